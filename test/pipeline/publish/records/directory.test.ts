import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { directoryRecords } from '../../../../pipeline/publish/records/directory.ts';
import { folder } from '../../../fakes/folder.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array | undefined): string => new TextDecoder().decode(value);

test('what was put is there, under its key and no other', async () => {
  const records = directoryRecords(folder());
  expect(await records.get('a/b')).toBeUndefined();
  await records.put('a/b', bytes('one'));
  await records.put('a/b', bytes('two'));
  await records.put('a/b/c', bytes('three'));
  expect(text((await records.get('a/b'))?.bytes)).toBe('two');
  expect(await records.list('')).toEqual(['a/b', 'a/b/c']);
  expect(await records.list('a/b/')).toEqual(['a/b/c']);
});

test('of two who read the same version one writes', async () => {
  const root = folder();
  const [one, two] = [directoryRecords(root), directoryRecords(root)];
  const written = await Promise.all([
    one.replace('k', bytes('1'), undefined),
    two.replace('k', bytes('2'), undefined),
  ]);
  expect(written.filter(Boolean)).toHaveLength(1);
  const version = (await one.get('k'))?.version;
  expect(await two.replace('k', bytes('3'), version)).toBe(true);
  expect(await one.replace('k', bytes('4'), version)).toBe(false);
  expect(text((await one.get('k'))?.bytes)).toBe('3');
  // No part of an unfinished write stays behind.
  expect(readdirSync(`${root}/k.record`).filter((name) => name.startsWith('.'))).toEqual([]);
});

test.each(['../out', '/etc/x', 'a//b', 'a/../b', '', '.', 'a/.hidden', 'a.record/b', 'a\0b'])(
  '%j is no key',
  async (key) => {
    await expect(directoryRecords(folder()).put(key, bytes(''))).rejects.toMatchObject({ code: 'usage' });
  },
);
