import { expect, onTestFinished, test } from 'vitest';
import { objectId } from '../../../pipeline/git/http/pack.ts';
import { type NewObject, storeObjects } from '../../../pipeline/git/store-objects.ts';
import { makeRepository } from '../../fakes/repository.ts';

const PERSON = 'a <a@example.com> 0 +0000';

test.each(['sha1', 'sha256'] as const)('git reads what was written, of any length: %s', async (format) => {
  const repository = makeRepository(`--object-format=${format}`);
  onTestFinished(() => repository.remove());
  const run = { settings: { searchPath: process.env['PATH'] }, directory: repository.directory };
  const blobs = [0, 15, 16, 2047, 2048, 300_000].map((length): NewObject => {
    return { type: 'blob', bytes: Buffer.alloc(length, 'x') };
  });
  const idOf = ({ type, bytes }: NewObject): string => objectId(type, bytes, format);
  const entries = blobs.flatMap((blob, i) => [Buffer.from(`100644 ${i}\0`), Buffer.from(idOf(blob), 'hex')]);
  const tree: NewObject = { type: 'tree', bytes: Buffer.concat(entries) };
  const text = `tree ${idOf(tree)}\nauthor ${PERSON}\ncommitter ${PERSON}\n\nall\n`;
  const commit: NewObject = { type: 'commit', bytes: Buffer.from(text) };
  await storeObjects(run, format, [...blobs, tree, commit]);
  // What is there already is written again without an error.
  await storeObjects(run, format, [tree]);
  expect(repository.git('cat-file', 'commit', idOf(commit))).toBe(text.trimEnd());
  const lines = repository.git('ls-tree', '-l', idOf(commit)).split('\n');
  expect(lines.map((line) => Number(line.split(/\s+/)[3]))).toEqual([0, 15, 16, 2047, 2048, 300_000]);
  expect(repository.git('fsck', '--strict', '--no-dangling')).toBe('');
});

test('more objects than a byte can count are all written', async () => {
  const repository = makeRepository();
  onTestFinished(() => repository.remove());
  const run = { settings: { searchPath: process.env['PATH'] }, directory: repository.directory };
  const blobs = Array.from(
    { length: 300 },
    (_, i): NewObject => ({ type: 'blob', bytes: Buffer.from(`${i}`) }),
  );
  await storeObjects(run, 'sha1', blobs);
  const last = objectId('blob', Buffer.from('299'), 'sha1');
  expect(repository.git('cat-file', 'blob', last)).toBe('299');
});
