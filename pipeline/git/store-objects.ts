/** Writes objects to a repository with one process of git, however many there are. */
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { ObjectFormat } from './http/pack.ts';
import { type GitRun, runGit } from './process.ts';

export interface NewObject {
  readonly type: keyof typeof TYPES;
  readonly bytes: Buffer;
}

/** Numbers of types in a pack. */
const TYPES = { commit: 1, tree: 2, blob: 3 } as const;

/**
 * Writes objects, each as a file of its own. They go to git as one pack, which one process unpacks.
 *
 * @param format that of the repository
 * @throws PipelineError `git`
 */
export async function storeObjects(
  run: GitRun,
  format: ObjectFormat,
  objects: readonly NewObject[],
): Promise<void> {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  header.writeUInt32BE(objects.length, 8);
  const pack = Buffer.concat([
    header,
    ...objects.flatMap(({ type, bytes }) => [head(type, bytes.length), deflateSync(bytes)]),
  ]);
  const input = Buffer.concat([pack, createHash(format).update(pack).digest()]);
  await runGit({ ...run, input }, ['unpack-objects', '-q']);
}

/** The type of an object and its length: four bits of it, then seven in each byte. */
function head(type: keyof typeof TYPES, length: number): Buffer {
  const bytes = [(TYPES[type] << 4) | (length & 15)];
  for (let rest = length >>> 4; rest > 0; rest >>>= 7) {
    bytes.push((bytes.pop() ?? 0) | 128, rest & 127);
  }
  return Buffer.from(bytes);
}
