import { expect, test } from 'vitest';
import { sourceOf } from '../../../catalog/source.ts';
import { readCatalogs } from '../../../pipeline/catalogs/read-catalogs.ts';
import { written } from '../../catalog/olm/universe.ts';

/** A catalog of packages that have one channel with one entry. */
function place(name: string, packages: number) {
  const all = Array.from({ length: packages }, (_, i) => [
    `p${i}`,
    { versions: ['1.0.0'], channels: { stable: [{ name: `p${i}.v1.0.0` }] } },
  ]);
  return { name, prefix: '', source: sourceOf({ 'catalog.json': written(Object.fromEntries(all)) }) };
}

test('106: catalogs that are read together have a limit of their entries', async () => {
  const within = [place('v4.19', 20), place('v4.20', 10)];
  expect(await readCatalogs(within, 1)).toHaveLength(2);
  const beyond = readCatalogs([place('v4.19', 20), place('v4.20', 11)], 1);
  await expect(beyond).rejects.toMatchObject({
    code: 'too-large',
    message:
      'the channels have 31 entries up to v4.20, with the alternatives of their ranges; the limit is 30',
  });
});

test('all findings of a catalog are kept, even if they are more than a call has arguments', async () => {
  const source = sourceOf({ 'catalog.json': '{}\n'.repeat(150_000) });
  const [read] = await readCatalogs([{ name: 'v4.20', prefix: '', source }]);
  expect(read?.unread).toHaveLength(150_000);
});
