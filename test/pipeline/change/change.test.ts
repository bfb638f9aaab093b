/** What an approval of a subject is of, and what else may change beside it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { subjectDigests } from '../../../pipeline/change/change.ts';
import { classifyChange } from '../../../pipeline/change/classify.ts';
import { openRepository, type Repository } from '../../../pipeline/git/repository.ts';
import { POLICY_PATH, policyAt } from '../../../pipeline/policy/read-policy.ts';
import { BASE, bundle, catalogOf, documents, POLICY } from '../../fakes/gate.ts';
import { type Files, makeRepository, type TestRepository } from '../../fakes/repository.ts';

let source: TestRepository;
let repository: Repository;
beforeAll(async () => {
  source = makeRepository();
  repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
});
afterAll(async () => {
  await repository.close();
  source.remove();
});

/** Digests of what lies between two states of the repository. */
async function digests(before: Files, changed: Files): Promise<ReadonlyMap<string, string>> {
  const [base = '', merged = ''] = source.chain({ ...BASE, ...before }, changed);
  const { policy } = await policyAt(repository.objects, base);
  if (!policy) throw new Error('no policy');
  return subjectDigests(await classifyChange(repository.objects, { base, merged }, policy));
}

const POLICY_OF = (layout: string): Files => ({ [POLICY_PATH]: `${POLICY}layout:\n${layout}` });

interface Approved {
  readonly subject: string;
  /** The base branch when it was approved, and what the pull request changes there. */
  readonly before: Files;
  readonly head: Files;
  /** What else the base branch holds now. */
  readonly harmless: Files;
  /** What the base branch holds now, where the same files replace something else. */
  readonly harmful: Files;
}

const etcd = (...versions: string[]): string => catalogOf('etcd', ['1.0.0', ...versions]);
const quay = (...versions: string[]): string => catalogOf('quay', ['3.0.0', ...versions]);
const file = 'catalogs/v4.20/etcd/catalog.yaml';
const composite = (etcdImage: string, quayImage: string): string =>
  JSON.stringify({
    references: [
      { name: 'etcd', image: etcdImage },
      { name: 'quay', image: quayImage },
    ],
  });

describe('an approval', () => {
  test.each<[string, Approved]>([
    [
      'of a package’s catalog, in a folder of its own',
      {
        subject: 'package etcd',
        before: {},
        head: { [file]: etcd('1.2.0') },
        harmless: {
          'operators/etcd/2.0.0/manifests/csv.yaml': 'x',
          'catalogs/v4.19/etcd/catalog.yaml': etcd(),
        },
        harmful: { 'catalogs/v4.20/etcd/more.yaml': documents(bundle('etcd', '0.9.0')) },
      },
    ],
    [
      'of a package in a file that it shares',
      {
        subject: 'package etcd',
        before: {
          ...POLICY_OF("  catalog: 'catalogs/{catalog}.yaml'\n"),
          'catalogs/v4.yaml': etcd() + quay(),
        },
        head: { 'catalogs/v4.yaml': etcd('1.2.0') + quay() },
        harmless: {},
        harmful: { 'catalogs/v4.yaml': etcd('1.1.0') + quay() },
      },
    ],
    [
      'of an image in a composite file',
      {
        subject: 'package etcd',
        before: { ...POLICY_OF('  composite: composite.yaml\n'), 'composite.yaml': composite('a', 'x') },
        head: { 'composite.yaml': composite('b', 'x') },
        harmless: {},
        harmful: { 'composite.yaml': composite('c', 'x') },
      },
    ],
    [
      'of a bundle’s directory',
      {
        subject: 'package etcd',
        before: {},
        head: { 'operators/etcd/1.2.0/manifests/csv.yaml': 'kind: x\n' },
        harmless: { 'operators/etcd/1.1.0/manifests/csv.yaml': 'kind: x\n' },
        harmful: { 'operators/etcd/1.2.0/manifests/crd.yaml': 'kind: x\n' },
      },
    ],
    [
      'of an ignore file that hides a package',
      {
        subject: 'package quay',
        before: {},
        head: { 'catalogs/v4.20/.indexignore': 'quay/\n' },
        harmless: { [file]: etcd('1.3.0') },
        harmful: { 'catalogs/v4.20/quay/catalog.yaml': quay('3.9.0') },
      },
    ],
    [
      'of a file that nobody owns',
      {
        subject: 'unknown',
        before: {},
        head: { 'docs/x': 'good' },
        harmless: { 'docs/y': 'other', 'README.md': 'moved' },
        harmful: { 'docs/x': 'published' },
      },
    ],
    [
      'of a new catalog',
      {
        subject: 'catalog v5',
        before: {},
        head: { 'catalogs/v5/etcd/catalog.yaml': etcd() },
        harmless: { [file]: etcd('1.3.0') },
        harmful: {},
      },
    ],
  ])('%s is of what is there before and after', async (_, { subject, before, head, harmless, harmful }) => {
    const approved = (await digests(before, head)).get(subject);
    expect(approved).toBeDefined();
    expect((await digests({ ...before, ...harmless }, head)).get(subject)).toBe(approved);
    if (Object.keys(harmful).length > 0)
      expect((await digests({ ...before, ...harmful }, head)).get(subject)).not.toBe(approved);
  });

  test('of one package in a shared file stays when another package in it moves', async () => {
    const layout = POLICY_OF("  catalog: 'catalogs/{catalog}.yaml'\n");
    const between = (one: string, other: string): ReturnType<typeof digests> =>
      digests({ ...layout, 'catalogs/v4.yaml': one }, { 'catalogs/v4.yaml': other });
    const approved = await between(etcd() + quay(), etcd('1.2.0') + quay());
    const moved = await between(etcd() + quay('3.9.0'), etcd('1.2.0') + quay('3.9.0'));
    expect(moved.get('package etcd')).toBe(approved.get('package etcd'));
    const both = await between(etcd() + quay('3.9.0'), etcd('1.2.0') + quay());
    expect(both.has('package quay')).toBe(true);
  });

  test('of one image in a composite file stays when another image in it moves', async () => {
    const layout = POLICY_OF('  composite: composite.yaml\n');
    const between = (one: string, other: string): ReturnType<typeof digests> =>
      digests({ ...layout, 'composite.yaml': one }, { 'composite.yaml': other });
    const approved = await between(composite('a', 'x'), composite('b', 'x'));
    const moved = await between(composite('a', 'y'), composite('b', 'y'));
    expect(approved.get('package etcd')).toBeDefined();
    expect(moved.get('package etcd')).toBe(approved.get('package etcd'));
  });

  test('is of the classes: the same files are another change when they bring a package or delete it', async () => {
    const head = { 'catalogs/v4.20/free/catalog.yaml': null };
    const twice = { 'catalogs/v4.19/free/catalog.yaml': catalogOf('free', ['0.1.0']) };
    const [pruned, deleted] = [await digests(twice, head), await digests({}, head)];
    expect(pruned.get('package free')).toBeDefined();
    expect(deleted.get('package free')).toBeDefined();
    expect(deleted.get('package free')).not.toBe(pruned.get('package free'));
  });
});

test('an approval of files that no check looks into is of all of them, though the report names some', async () => {
  const policy = { [POLICY_PATH]: `${POLICY}limits: {files: 3}\n` };
  const some = { 'docs/a.md': 'a', 'docs/b.md': 'b', 'docs/c.md': 'c', 'docs/d.md': 'd' };
  const seen = (await digests(policy, some)).get('unknown');
  expect(seen).toBeDefined();
  expect((await digests(policy, { ...some, 'tools/z.sh': 'z' })).get('unknown')).not.toBe(seen);
});

test('an approval of a catalog is of every folder of its name', async () => {
  const layout = POLICY_OF("  catalog: ['a/{catalog}/{package}/**', 'b/{catalog}/{package}/**']\n");
  const before = { ...layout, 'a/v1/etcd/catalog.yaml': etcd() };
  const deleted = { 'a/v1/etcd/catalog.yaml': null };
  const seen = (await digests(before, deleted)).get('catalog v1');
  expect(seen).toBeDefined();
  const more = { ...deleted, 'b/v1/quay/catalog.yaml': quay() };
  expect((await digests(before, more)).get('catalog v1')).not.toBe(seen);
});

test('a new package of catalogs that are made from bundle directories is no new catalog', async () => {
  const annotations = (name: string): string =>
    `annotations:\n  operators.operatorframework.io.bundle.package.v1: ${name}\n`;
  const before = {
    [POLICY_PATH]: `${POLICY}bundleCatalogs: {names: [v4.19], image: 'quay.io/org/{package}:v{version}'}\n`,
    'operators/etcd/1.0.0/metadata/annotations.yaml': annotations('etcd'),
  };
  const added = { 'operators/dinghy/1.0.0/metadata/annotations.yaml': annotations('dinghy') };
  expect([...(await digests(before, added)).keys()]).toEqual(['package dinghy']);
});
