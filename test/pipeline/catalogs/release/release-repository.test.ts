import { expect, test } from 'vitest';
import {
  overlaidRepository,
  type ReleaseRepository,
} from '../../../../pipeline/catalogs/release/release-repository.ts';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** A repository of these files. */
function placeOf(files: Readonly<Record<string, string>>): ReleaseRepository {
  return {
    text: async (path) => files[path],
    folder: async (path) => {
      const own = Object.entries(files).filter(([file]) => file.startsWith(`${path}/`));
      const list = own.map(([file, content]) => ({
        path: file.slice(path.length + 1),
        read: () => new TextEncoder().encode(content),
      }));
      return own.length === 0 ? undefined : { files: async () => list };
    },
  };
}

async function filesIn(place: ReleaseRepository, path: string): Promise<string[] | undefined> {
  const found = await (await place.folder(path))?.files();
  if (!found) return undefined;
  const texts = await Promise.all(found.map(async (file) => `${file.path}: ${text(await file.read())}`));
  return texts.sort();
}

test('files with other texts replace those of the place, and come beside them', async () => {
  const written = { 'a/one': '1', 'a/two': '2', 'ab/three': '3', 'c/four': '4' };
  const other = new Map([
    ['a/two', 'other'],
    ['a/b/new', 'new'],
    ['d/only', 'only'],
  ]);
  const place = overlaidRepository(placeOf(written), other);
  expect(await filesIn(place, 'a')).toEqual(['b/new: new', 'one: 1', 'two: other']);
  expect(await filesIn(place, 'ab')).toEqual(['three: 3']);
  expect(await filesIn(place, 'd')).toEqual(['only: only']);
  expect(await filesIn(place, 'e')).toBeUndefined();
  expect(await Promise.all(['a/one', 'a/two', 'd/only', 'e'].map((path) => place.text(path)))).toEqual([
    '1',
    'other',
    'only',
    undefined,
  ]);
});
