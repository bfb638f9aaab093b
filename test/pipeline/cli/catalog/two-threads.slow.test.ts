/** Two threads find what one finds, whichever of them checks which part; when they cannot, one checks everything. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CATALOG_RULES } from '../../../../catalog/rules/catalog.ts';
import type { Verdict } from '../../../../pipeline/cli/catalog/stored-verdicts.ts';
import { checkDirectory, checkShare, sumOf } from '../../../../pipeline/cli/catalog/two-threads.ts';
import { folder } from '../../../fakes/folder.ts';
import { catalogOf } from '../../../fakes/gate.ts';
import { builtThread, posting, threadOf } from '../../../fakes/second-thread.ts';

const PARTS: Readonly<Record<string, string>> = {
  '.indexignore': 'ignored.yaml\n',
  'etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']),
  'ignored.yaml': 'schema: olm.package\nname: ignored\n',
  'tug.yaml': 'schema: olm.package\nname: tug\ndefaultChannel: stable\n',
  'broken/catalog.yaml': 'schema: [\n',
  'vault/a/catalog.yaml': catalogOf('vault', ['1.0.0', '1.1.0']).replace('1.1.0', 'one'),
  'vault/b.yaml': 'schema: custom\npackage: vault\n',
};

function byOne(root: string): Promise<Verdict> {
  return checkDirectory(root, CATALOG_RULES, { program: 'none', processors: 1 });
}

/** The catalog checked by two threads, of which each has the parts that `mask` gives it. */
async function byTwo(root: string, paths: readonly string[], mask: number): Promise<Verdict | undefined> {
  const tops = [...new Set(paths.map((path) => path.split('/')[0]))];
  const parts = new Map(paths.map((path) => [path, tops.indexOf(path.split('/')[0])]));
  const takers = new SharedArrayBuffer(tops.length * 4);
  new Int32Array(takers).set(tops.map((_, i) => 1 + ((mask >> i) & 1)));
  const task = { root, parts, takers };
  return sumOf(await checkShare(task, CATALOG_RULES, 1), await checkShare(task, CATALOG_RULES, 2));
}

describe('shares', () => {
  test('add up to the whole, however the parts are shared out', async () => {
    const root = folder(PARTS);
    const whole = await byOne(root);
    expect(whole.findings.length).toBeGreaterThan(4);
    expect(whole).toMatchObject({ packages: 3, bundles: 4 });
    for (let mask = 0; mask < 64; mask++)
      expect(await byTwo(root, Object.keys(PARTS), mask), `${mask}`).toEqual(whole);
  });

  test.each([
    [
      'a package is in both',
      { 'a.yaml': catalogOf('etcd', ['1.0.0']), 'b.yaml': 'schema: olm.package\nname: etcd\n' },
    ],
    [
      'a schema without a domain is in both',
      { 'a.yaml': 'schema: x\npackage: a\n', 'b.yaml': 'schema: x\npackage: b\n' },
    ],
  ])('do not add up if %s', async (_, files) => {
    const root = folder(files);
    expect(await byTwo(root, ['a.yaml', 'b.yaml'], 0b10)).toBeUndefined();
    expect(await byTwo(root, ['a.yaml', 'b.yaml'], 0b11)).toEqual(await byOne(root));
  });

  test('are refused of a directory whose files have gone', async () => {
    const root = folder({ 'a.yaml': 'schema: x.y\n' });
    await expect(byTwo(root, ['a.yaml', 'b.yaml'], 0)).rejects.toThrow('the directory has changed');
  });
});

describe('the second thread', () => {
  const threads = { least: 0, processors: 2 };

  test('is the program that is built', async () => {
    const program = builtThread();
    const root = folder(PARTS);
    expect(await checkDirectory(root, CATALOG_RULES, { ...threads, program })).toEqual(await byOne(root));
  });

  test.each([
    ['throws', 'throw new Error("no")'],
    ['ends without an answer', 'process.exit(3)'],
    ['is not there', undefined],
    [
      'has what the first one has, too',
      posting({ findings: [], packages: 0, bundles: 0, names: ['package etcd'] }),
    ],
    [
      'has half of the documents that a catalog may have',
      posting({ findings: [{ rule: 'fbc/limits' }], packages: 0, bundles: 0, names: [] }),
    ],
  ])('may fail: one thread checks everything if it %s', async (_, text) => {
    const root = folder(PARTS);
    const program = text === undefined ? join(root, 'none.cjs') : threadOf(text);
    expect(await checkDirectory(root, CATALOG_RULES, { ...threads, program })).toEqual(await byOne(root));
  });

  test('is believed in what it took', async () => {
    const answer = { findings: [], packages: 5, bundles: 7, names: ['package other'] };
    const program = threadOf(posting(answer));
    const root = folder(PARTS);
    const { packages, bundles } = await byOne(root);
    expect(await checkDirectory(root, CATALOG_RULES, { ...threads, program })).toMatchObject({
      packages: packages + 5,
      bundles: bundles + 7,
    });
    // A small catalog has no second thread.
    expect(await checkDirectory(root, CATALOG_RULES, { program, processors: 2 })).toMatchObject({ packages });
  });

  test('does not keep the first from saying what it cannot read', async () => {
    await expect(
      checkDirectory(join(folder(), 'none'), CATALOG_RULES, { ...threads, program: 'none' }),
    ).rejects.toMatchObject({ code: 'not-found' });
  });
});
