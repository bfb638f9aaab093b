import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { directoryStore, memoryStore } from '../../../../pipeline/oci/image/stores.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'portolan-store-'));
});
afterEach(() => rmSync(root, { recursive: true }));

test('what was put is there, under names that no key can lead out of', async () => {
  const store = directoryStore(join(root, 'new'));
  expect(await store.get('../v4.20')).toBeUndefined();
  await store.put('../v4.20', Buffer.from('one'));
  await store.put('../v4.20', Buffer.from('two'));
  await store.put('v4.21', Buffer.from('other'));
  expect(Buffer.from((await store.get('../v4.20')) ?? []).toString()).toBe('two');
  expect(readdirSync(root)).toEqual(['new']);
  expect(readdirSync(join(root, 'new'))).toHaveLength(2);
});

test('a damaged file is as if it were not there', async () => {
  const store = directoryStore(root);
  await store.put('key', Buffer.from('{"findings":[1]}'));
  const [name = ''] = readdirSync(root);
  const whole = readFileSync(join(root, name));
  for (const at of [0, 40, whole.length - 1]) {
    writeFileSync(
      join(root, name),
      whole.map((byte, i) => (i === at ? byte ^ 1 : byte)),
    );
    expect(await store.get('key')).toBeUndefined();
  }
  for (const length of [0, 16, 40]) {
    writeFileSync(join(root, name), whole.subarray(0, length));
    expect(await store.get('key')).toBeUndefined();
  }
  writeFileSync(join(root, name), whole);
  expect(Buffer.from((await store.get('key')) ?? []).toString()).toBe('{"findings":[1]}');
});

test('146: what killed runs left is removed after a day; what a living run writes now stays', async () => {
  const store = directoryStore(root);
  await store.put('kept', Buffer.from('one'));
  const [kept = ''] = readdirSync(root);
  const names = [1, 2].map((n) => `${kept}.00000000-0000-4000-8000-00000000000${n}`);
  const [old = '', living = ''] = names;
  for (const name of [...names, 'README.md']) writeFileSync(join(root, name), 'half');
  const long = new Date(Date.now() - 48 * 3600 * 1000);
  for (const name of [old, kept, 'README.md']) utimesSync(join(root, name), long, long);
  // Reading removes nothing: it may be a reader of somebody else's cache.
  await directoryStore(root).get('kept');
  expect(readdirSync(root)).toContain(old);
  await directoryStore(root).put('kept', Buffer.from('two'));
  expect(readdirSync(root).sort()).toEqual([kept, living, 'README.md'].sort());
});

test('146: what cannot be given its name leaves nothing', async () => {
  const store = directoryStore(root);
  await store.put('key', Buffer.from('one'));
  const [name = ''] = readdirSync(root);
  rmSync(join(root, name));
  mkdirSync(join(root, name, 'in'), { recursive: true });
  await expect(store.put('key', Buffer.from('two'))).rejects.toMatchObject({ code: 'io' });
  expect(readdirSync(root)).toEqual([name]);
});

test('a place where nothing can be put is named', async () => {
  writeFileSync(join(root, 'file'), '');
  const store = directoryStore(join(root, 'file'));
  await expect(store.put('k', Buffer.from(''))).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:io|not-found)$/),
  });
});

test('keeps what was asked for last, within its bytes', async () => {
  const store = memoryStore(10);
  const four = (value: number): Uint8Array => new Uint8Array(4).fill(value);
  await store.put('a', four(1));
  await store.put('b', four(2));
  expect(await store.get('a')).toEqual(four(1));
  await store.put('c', four(3));
  expect(await store.get('b')).toBeUndefined();
  await store.put('a', four(4));
  expect([await store.get('a'), await store.get('c')]).toEqual([four(4), four(3)]);
  await store.put('large', new Uint8Array(11));
  expect(await store.get('large')).toBeUndefined();
});
