import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRepository, type Repository } from '../../../../pipeline/git/repository.ts';
import { rebuiltBundles } from '../../../../pipeline/policy/setup/rebuilt-bundles.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';

const source = makeRepository();
let repository: Repository;
beforeAll(async () => {
  repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
});
afterAll(async () => {
  await repository.close();
  source.remove();
});

const PATHS = ['.tekton/push.yaml'];
const PATTERNS = ['catalogs/*.yaml'];

function bundle(name: string, image: string): string {
  return `---\n{schema: olm.bundle, package: p, name: p.${name}, image: "quay.io/example/p:${image}"}\n`;
}

/** What is found in the merges of some files, each on top of the one before. */
function found(...merges: readonly Files[]): Promise<unknown> {
  let tip: string | undefined;
  for (const files of merges) tip = source.commit(files, { parents: tip === undefined ? [] : [tip] });
  return rebuiltBundles(repository, tip ?? '', { paths: PATHS, patterns: PATTERNS });
}

const at = (catalog: string, ...bundles: readonly string[]): Files => ({
  [`catalogs/${catalog}.yaml`]: bundles.join(''),
});
const readme = (i: number): Files => ({ 'README.md': `${i}\n` });

describe('merges that replace the image of a bundle', () => {
  test('count once each, and three are enough to know', async () => {
    const [first, ...rest] = ['a', 'b', 'c', 'd', 'e'].map((image) =>
      at('one', bundle('v1', image), bundle('v2', image)),
    );
    expect(await found(first ?? {}, ...rest.slice(0, 2))).toEqual({ merges: 2, of: 2 });
    expect(await found(first ?? {}, ...rest)).toEqual({ merges: 3, of: 3 });
  });

  test('count among the last 60 only', async () => {
    const replaced = [at('one', bundle('v1', 'a')), at('one', bundle('v1', 'b'))];
    const later = Array.from({ length: 59 }, (_, i) => readme(i));
    expect(await found(...replaced, ...later)).toEqual({ merges: 1, of: 60 });
    expect(await found(...replaced, ...later, readme(59))).toEqual({ merges: 0, of: 60 });
  });

  test('are found in the first two catalogs that a merge changes', async () => {
    const all = (...images: readonly string[]): Files =>
      Object.assign(
        {},
        ...images.map((image, i) => at(`c${i}`, bundle('v1', image), bundle(`x${image}`, 'x'))),
      );
    expect(await found(all('a', 'a', 'a'), all('a', 'b', 'a'))).toEqual({ merges: 1, of: 1 });
    // The first two change as well, but none of their images.
    const added = Object.assign({}, ...['c0', 'c1'].map((name) => at(name, bundle('v1', 'a'))));
    expect(await found(all('a', 'a', 'a'), { ...added, ...at('c2', bundle('v1', 'b')) })).toEqual({
      merges: 0,
      of: 1,
    });
  });

  test('do not count where the bundle is new, gone, of another package, or in no catalog', async () => {
    const old = at('one', bundle('v1', 'a'));
    const other = bundle('v1', 'b').replace('package: p', 'package: q');
    expect(await found(old, at('one', bundle('v1', 'a'), bundle('v2', 'b')))).toEqual({ merges: 0, of: 1 });
    expect(await found(old, at('one', bundle('v2', 'b')))).toEqual({ merges: 0, of: 1 });
    expect(await found(old, at('one', bundle('v1', 'a'), other))).toEqual({ merges: 0, of: 1 });
    expect(await found(old, { 'catalogs/one.yaml': null })).toEqual({ merges: 0, of: 1 });
    const elsewhere = (image: string): Files => ({ 'elsewhere.yaml': bundle('v1', image) });
    expect(await found(elsewhere('a'), elsewhere('b'))).toEqual({ merges: 0, of: 1 });
  });

  test('do not count where a link takes the place of the file', async () => {
    const link: Files = { 'catalogs/one.yaml': { mode: '120000', text: bundle('v1', 'b') } };
    expect(await found(at('one', bundle('v1', 'a')), link)).toEqual({ merges: 0, of: 1 });
  });
});

test('without catalogs, or without pipelines that release later, nothing is looked at', async () => {
  const commits = source.chain(at('one', bundle('v1', 'a')), at('one', bundle('v1', 'b')));
  const ask = (paths: readonly string[], patterns: readonly string[]) =>
    rebuiltBundles(repository, commits.at(-1) ?? '', { paths, patterns });
  expect(await ask(PATHS, [])).toEqual({ merges: 0, of: 0 });
  for (const path of ['.tekton/push.json', 'a/.tekton/push.yaml', '.tekton/push.yaml.orig'])
    expect(await ask([path], PATTERNS), path).toEqual({ merges: 0, of: 0 });
  expect(await ask(['README.md', '.tekton/a/push.yml'], PATTERNS)).toEqual({ merges: 1, of: 1 });
});
