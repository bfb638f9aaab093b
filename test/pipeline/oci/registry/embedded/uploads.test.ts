import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { digestOf } from '../../../../../pipeline/oci/digest.ts';
import { createUploads } from '../../../../../pipeline/oci/registry/embedded/uploads.ts';
import { type Blobs, openBlobs } from '../../../../../pipeline/oci/registry/layout/blobs.ts';

async function* chunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Blobs on a disk that takes four bytes of the second chunk only. */
function fullDisk(blobs: Blobs): Blobs {
  const temporary = async (): ReturnType<Blobs['temporary']> => {
    const file = await blobs.temporary();
    const write = file.handle.write.bind(file.handle) as (
      ...parts: unknown[]
    ) => Promise<{ bytesWritten: number }>;
    vi.spyOn(file.handle, 'write')
      .mockImplementationOnce(write as never)
      .mockImplementationOnce(((bytes: Uint8Array, from: number, _: number, at?: number) =>
        write(bytes, from, 4, at)) as never)
      .mockRejectedValueOnce(Object.assign(new Error('ENOSPC'), { syscall: 'write', code: 'ENOSPC' }));
    return file;
  };
  return { ...blobs, temporary };
}

test.each(['lo world', 'lo'])(
  'a chunk that the disk took in part leaves no bytes in the blob: %s',
  async (rest) => {
    const folder = mkdtempSync(join(tmpdir(), 'uploads-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const upload = createUploads(fullDisk(openBlobs(folder))).open('a');
    await upload.append(chunk('hel'));
    await expect(upload.append(chunk('lo world'))).rejects.toThrow('cannot store the upload');
    expect(upload.size()).toBe(3);
    await upload.append(chunk(rest));
    const digest = digestOf(Buffer.from(`hel${rest}`));
    await upload.commit(digest);
    expect(readFileSync(join(folder, 'blobs/sha256', digest.slice(7)), 'utf8')).toBe(`hel${rest}`);
  },
);
