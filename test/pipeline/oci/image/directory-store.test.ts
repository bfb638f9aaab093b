import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { directoryStore } from '../../../../pipeline/oci/image/directory-store.ts';

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

test('a place where nothing can be put is named', async () => {
  writeFileSync(join(root, 'file'), '');
  const store = directoryStore(join(root, 'file'));
  await expect(store.put('k', Buffer.from(''))).rejects.toMatchObject({
    code: expect.stringMatching(/^(?:io|not-found)$/),
  });
});
