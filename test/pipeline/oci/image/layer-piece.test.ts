import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openPiece, scratchFile } from '../../../../pipeline/oci/image/layer-piece.ts';
import { folder } from '../../../fakes/folder.ts';
import { noise } from '../../../fakes/image.ts';

test('what is still compressed of a piece that is given up does not get into the next one', async () => {
  const scratch = folder();
  const part = { path: 'x', kind: 'file', pieces: [noise(1 << 20)] } as const;
  for (let round = 0; round < 3; round++) {
    const abandoned = await openPiece(scratch, 'abandoned', 'gzip');
    await abandoned.add(part);
    abandoned.abandon();
    // It gets the file descriptor of the one before.
    const piece = await openPiece(scratch, 'next', 'gzip');
    await piece.add(part);
    const { digest, size } = await piece.finish();
    const bytes = readFileSync(scratchFile(scratch, digest));
    expect(bytes).toHaveLength(size);
    expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(digest);
  }
});
