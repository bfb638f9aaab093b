import { expect, onTestFinished, test } from 'vitest';
import { filesOf } from '../../../pipeline/change/catalog-files.ts';
import { catalogUnits } from '../../../pipeline/change/unit.ts';
import { ObjectReader } from '../../../pipeline/git/objects.ts';
import { openRepository } from '../../../pipeline/git/repository.ts';
import { compileLayout } from '../../../pipeline/policy/layout.ts';
import { makeRepository } from '../../fakes/repository.ts';

test('a catalog is listed once, and again only if that failed', async () => {
  const made = makeRepository();
  onTestFinished(made.remove);
  const tree = made.commit({ 'catalogs/v4.20/p/catalog.yaml': '{}' });
  const repository = await openRepository(made.directory, { searchPath: process.env['PATH'] });
  const { objects } = repository;
  onTestFinished(() => repository.close());
  const layout = compileLayout([{ kind: 'catalog', pattern: 'catalogs/{catalog}/{package}/**' }]);
  const units = await catalogUnits(objects, tree, layout);

  let reads = 0;
  const store = {
    find: (id: string) => {
      reads++;
      return reads === 1 ? Promise.reject(new Error('connection reset')) : objects.read(id);
    },
    close: () => Promise.resolve(),
  };
  const list = filesOf(new ObjectReader(store), { tree, units });
  await expect(list('v4.20')).rejects.toThrow('connection reset');
  expect((await list('v4.20')).map(({ path }) => path)).toEqual(['catalogs/v4.20/p/catalog.yaml']);
  const before = reads;
  expect(list('v4.20')).toBe(list('v4.20'));
  await list('v4.20');
  expect(reads).toBe(before);
});
