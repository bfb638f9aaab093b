import { expect, test } from 'vitest';
import { PipelineError } from '../../../pipeline/error.ts';
import { type GitObject, ObjectReader, type ObjectStore } from '../../../pipeline/git/objects.ts';

const idOf = (n: number): string => n.toString(16).padStart(40, '0');

/** A tree with so many files. */
function treeOf(files: number): GitObject {
  const entries = Array.from({ length: files }, (_, i) =>
    Buffer.concat([Buffer.from(`100644 file-${i}\0`), Buffer.alloc(20, 1)]),
  );
  const bytes = Buffer.concat(entries);
  return { type: 'tree', size: bytes.length, bytes };
}

/** A store in which every object is a tree with so many files, and the ids that it was asked for. */
function treeStore(files: number): { reader: ObjectReader; asked: string[] } {
  const asked: string[] = [];
  const tree = treeOf(files);
  const store: ObjectStore = {
    find: (id) => {
      asked.push(id);
      return Promise.resolve(tree);
    },
    close: () => Promise.resolve(),
  };
  return { reader: new ObjectReader(store), asked };
}

test('a tree is read once, also when it is asked for twice at the same moment', async () => {
  const { reader, asked } = treeStore(3);
  const [a, b] = await Promise.all([reader.tree(idOf(1)), reader.tree(idOf(1))]);
  expect(await reader.tree(idOf(1))).toBe(a);
  expect(b).toBe(a);
  expect(a.map(({ mode, name }) => `${mode} ${name}`)).toEqual([
    '100644 file-0',
    '100644 file-1',
    '100644 file-2',
  ]);
  expect(asked).toEqual([idOf(1)]);
});

test('trees are kept up to 200,000 entries in all: the one that was not asked for longest goes first', async () => {
  const { reader, asked } = treeStore(50_000);
  for (const n of [1, 2, 3, 1, 4]) await reader.tree(idOf(n));
  expect(asked).toHaveLength(4);
  await reader.tree(idOf(1));
  expect(asked).toHaveLength(4);
  await reader.tree(idOf(2));
  expect(asked).toHaveLength(5);
});

test.each([
  ['commit', 'author a <a@b> 1 +0000\n', 'is a commit without a tree'],
  ['tag', 'object 0\n', 'is a tag, not a commit'],
] as const)('the tree of a %s that records none is an error', async (type, text, defect) => {
  const bytes = Buffer.from(text);
  const reader = new ObjectReader({
    find: () => Promise.resolve({ type, size: bytes.length, bytes }),
    close: () => Promise.resolve(),
  });
  await expect(reader.treeOf(idOf(1))).rejects.toMatchObject({
    code: 'git',
    message: `object ${idOf(1)} ${defect}`,
  });
});

test('a tree that could not be read is asked for again', async () => {
  let isThere = false;
  const store: ObjectStore = {
    find: () => Promise.resolve(isThere ? treeOf(1) : undefined),
    close: () => Promise.resolve(),
  };
  const reader = new ObjectReader(store);
  await expect(reader.tree(idOf(1))).rejects.toThrow(`object ${idOf(1)} is not in this clone`);
  isThere = true;
  expect(await reader.tree(idOf(1))).toHaveLength(1);
});

test.each([
  ['stays', undefined, 2],
  ['may have to make room for what is fetched', () => Promise.resolve(), 4],
] as const)('the size of an object that %s is asked for as often as needed', async (_, fetch, times) => {
  let asked = 0;
  const store: ObjectStore = {
    find: () => {
      asked++;
      return Promise.resolve(treeOf(1));
    },
    close: () => Promise.resolve(),
  };
  const reader = new ObjectReader(store, fetch);
  // A read says the size, too.
  await reader.read(idOf(1));
  for (const n of [1, 2, 2]) expect(await reader.info(idOf(n))).toMatchObject({ type: 'tree' });
  expect(asked).toBe(times);
});

test.each([
  ['a small file', 'blob', 1000, undefined, 1],
  ['a large file', 'blob', 5 * 1024 * 1024, undefined, 3],
  ['a tree, whose entries are kept', 'tree', 1000, undefined, 3],
  ['a file that may have to make room', 'blob', 1000, () => Promise.resolve(), 3],
] as const)(
  '%s that several steps read is read from git as often as needed',
  async (_, type, size, fetch, times) => {
    let asked = 0;
    const store: ObjectStore = {
      find: (_id, most = 0) => {
        asked++;
        return Promise.resolve(most < size ? { type, size } : { type, size, bytes: Buffer.alloc(size) });
      },
      close: () => Promise.resolve(),
    };
    const reader = new ObjectReader(store, fetch);
    for (const most of [undefined, size, undefined])
      expect((await reader.read(idOf(1), most)).bytes).toHaveLength(size);
    expect(asked).toBe(times);
    await expect(reader.read(idOf(1), size - 1)).rejects.toMatchObject({ code: 'too-large' });
  },
);

test('a server that does not answer is asked once, however many objects are missing', async () => {
  let asked = 0;
  const store: ObjectStore = { find: () => Promise.resolve(undefined), close: () => Promise.resolve() };
  const reader = new ObjectReader(store, () => {
    asked++;
    return Promise.reject(new PipelineError('unreachable', 'no answer'));
  });
  const ids = Array.from({ length: 5000 }, (_, i) => idOf(i));
  await expect(reader.prefetch(ids)).rejects.toMatchObject({ code: 'unreachable' });
  expect(asked).toBe(1);
});
