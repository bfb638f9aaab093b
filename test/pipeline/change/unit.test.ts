import { expect, onTestFinished, test } from 'vitest';
import { catalogUnits, packageFolders } from '../../../pipeline/change/unit.ts';
import { openRepository } from '../../../pipeline/git/repository.ts';
import { compileLayout } from '../../../pipeline/policy/layout.ts';
import { makeRepository } from '../../fakes/repository.ts';

test('the units and folders of a tree are looked for once for each layout', async () => {
  const made = makeRepository();
  onTestFinished(made.remove);
  const commit = made.commit({ 'catalogs/v4.20/p/catalog.yaml': '{}', 'other/v4.20/q/catalog.yaml': '{}' });
  const { objects, close } = await opened(made.directory);
  onTestFinished(close);
  const layout = layoutOf('catalogs/{catalog}/{package}/**');
  const units = await catalogUnits(objects, commit, layout);
  expect([...units.keys()]).toEqual(['catalogs/v4.20/p']);
  expect(await catalogUnits(objects, commit, layout)).toBe(units);
  const folders = await packageFolders(objects, commit, layout);
  expect(await packageFolders(objects, commit, layout)).toBe(folders);
  const other = await catalogUnits(objects, commit, layoutOf('other/{catalog}/{package}/**'));
  expect([...other.keys()]).toEqual(['other/v4.20/q']);
  const next = made.commit({ 'catalogs/v4.20/r/catalog.yaml': '{}' }, { parents: [commit] });
  expect([...(await catalogUnits(objects, next, layout)).keys()]).toEqual([
    'catalogs/v4.20/p',
    'catalogs/v4.20/r',
  ]);
});

test('a file that an earlier pattern takes for a template is no catalog', async () => {
  const made = makeRepository();
  onTestFinished(made.remove);
  const commit = made.commit({ 'catalogs/v4.20.yaml': '{}', 'catalogs/etcd.template.yaml': '{}' });
  const { objects, close } = await opened(made.directory);
  onTestFinished(close);
  const layout = compileLayout([
    { kind: 'template', pattern: 'catalogs/{package}.template.yaml' },
    { kind: 'catalog', pattern: 'catalogs/{catalog}.yaml' },
  ]);
  expect([...(await catalogUnits(objects, commit, layout)).keys()]).toEqual(['catalogs/v4.20.yaml']);
});

test('a tree of few objects that stand for many folders is refused', async () => {
  const made = makeRepository();
  onTestFinished(made.remove);
  const leaf = made.feed('', 'mktree');
  const listing = (id: string): string =>
    Array.from({ length: 500 }, (_, i) => `040000 tree ${id}\tp${i}\n`).join('');
  const inner = made.feed(listing(leaf), 'mktree');
  const root = made.feed(listing(inner), 'mktree');
  const { objects, close } = await opened(made.directory);
  onTestFinished(close);
  const units = catalogUnits(objects, root, layoutOf('{catalog}/{package}/**'));
  await expect(units).rejects.toMatchObject({ code: 'too-large' });
  expect((await catalogUnits(objects, inner, layoutOf('{catalog}/**'))).size).toBe(500);
});

function layoutOf(pattern: string) {
  return compileLayout([{ kind: 'catalog', pattern }]);
}

async function opened(directory: string) {
  const repository = await openRepository(directory, { searchPath: process.env['PATH'] });
  return { objects: repository.objects, close: () => repository.close() };
}
