/** `oci-archive`: an OCI image layout in a tar file. */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { refuseLinkOut } from '../../../directory.ts';
import { PipelineError } from '../../../error.ts';
import { readRegular } from '../../../file-pieces.ts';
import type { Registry } from '../../../ports.ts';
import { algorithmOf } from '../../digest.ts';
import type { BlobReader } from '../layout/blobs.ts';
import { createView, type LayoutView, manifestReader } from '../layout/contents.ts';
import { parseIndex } from '../layout/entries.ts';
import { fileError } from '../layout/files.ts';
import { type Layout, openLayout } from '../layout/layout.ts';
import { layoutRegistry } from '../layout/registry.ts';
import { streamOf } from '../stream.ts';
import { type ArchiveFile, openArchive } from './file.ts';
import { type TarSource, writeTar } from './tar.ts';

interface ArchiveView extends LayoutView {
  close(): Promise<void>;
}

/** Opens an archive of an OCI image layout. @throws PipelineError `corrupt` when the archive holds no layout */
export async function openOciArchive(path: string): Promise<ArchiveView> {
  const archive = await openArchive(path);
  try {
    const bytes = await archive.readSmall('index.json');
    if (bytes === undefined)
      throw new PipelineError('corrupt', `${path} does not contain an OCI image layout`);
    const index = parseIndex(bytes, `index.json in ${path}`);
    const blobs = archiveBlobs(archive);
    return { ...createView(blobs, manifestReader(blobs), async () => index), close: archive.close };
  } catch (error) {
    await archive.close();
    throw error;
  }
}

/** Reads blobs of a layout in an archive, by the names that they have there. */
function archiveBlobs(archive: ArchiveFile): BlobReader {
  const entryOf = (digest: string): ReturnType<ArchiveFile['find']> =>
    archive.find(`blobs/${algorithmOf(digest)}/${digest.slice(digest.indexOf(':') + 1)}`);
  return {
    size: async (digest) => entryOf(digest)?.size,
    async *read(digest, start, end) {
      const entry = entryOf(digest);
      if (entry === undefined) throw new PipelineError('not-found', `${archive.path} has no blob ${digest}`);
      yield* archive.read(entry, start, end === undefined ? undefined : Math.min(end, entry.size));
    },
  };
}

/** A registry whose content becomes a file only when all of it is there. */
export interface ArchiveWriter {
  readonly registry: Registry;
  /** Writes the file, in place of one that stood there. */
  finish(): Promise<void>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
}

/** Writes into a directory beside the file, which becomes the archive at the end. */
export async function createOciArchive(path: string): Promise<ArchiveWriter> {
  const { layout, discard } = await stagingLayout(path);
  const finish = async (): Promise<void> => {
    await replaceByTar(path, await layoutSources(layout));
    await discard();
  };
  return { registry: layoutRegistry(layout), finish, discard };
}

/** A layout beside a file, for what the file shall hold. */
export async function stagingLayout(path: string): Promise<{ layout: Layout; discard: () => Promise<void> }> {
  refuseLinkOut(dirname(path));
  try {
    const folder = await mkdtemp(join(dirname(path), `.${basename(path)}-`));
    const discard = (): Promise<void> => rm(folder, { recursive: true, force: true });
    const layout = await openLayout(folder, { create: true }).catch(async (error: unknown) => {
      await discard();
      throw error;
    });
    return { layout, discard };
  } catch (error) {
    throw fileError(`cannot write ${path}`, error);
  }
}

/** Writes a tar file under another name and gives it its own when it is whole. */
export async function replaceByTar(path: string, sources: Iterable<TarSource>): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}-${randomUUID()}`);
  try {
    await writeTar(temporary, sources);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileError(`cannot write ${path}`, error);
  }
}

/** The members of an archive that holds the whole layout. */
async function layoutSources(layout: Layout): Promise<TarSource[]> {
  const small = async (name: string): Promise<TarSource> => {
    const bytes = readRegular(join(layout.directory, name));
    return { name, size: bytes.length, open: () => streamOf(bytes) };
  };
  const sources: TarSource[] = [];
  for (const digest of await digestsOf(layout)) {
    const size = await layout.blobs.size(digest);
    if (size === undefined) continue;
    sources.push({ name: `blobs/${digest.replace(':', '/')}`, size, open: () => layout.blobs.read(digest) });
  }
  return [await small('oci-layout'), await small('index.json'), ...sources];
}

/** All that the manifests name, and they themselves, sorted; what nobody names stays out. */
async function digestsOf(layout: Layout): Promise<string[]> {
  const digests = new Set<string>();
  for (const repository of await layout.repositories()) {
    const { manifests, blobs } = await layout.contents(repository);
    for (const digest of manifests.keys()) digests.add(digest);
    for (const digest of blobs) digests.add(digest);
  }
  return [...digests].sort();
}
