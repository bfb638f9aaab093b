import { expect, onTestFinished, test } from 'vitest';
import { documents, operator } from '../../../fakes/gate.ts';
import { type Files, makeRepository } from '../../../fakes/repository.ts';
import { portolan } from '../../../fakes/terminal.ts';

const SET = 'sets/shop.yaml';
const POLICY = `apiVersion: portolan/v1alpha1\nkind: Portolan\ngraph: {installSets: [${SET}]}\n`;

const extension = (packageName: string, version: string, ...channels: readonly string[]) => ({
  apiVersion: 'olm.operatorframework.io/v1',
  kind: 'ClusterExtension',
  metadata: { name: packageName },
  spec: {
    namespace: packageName,
    source: { sourceType: 'Catalog', catalog: { packageName, version, channels } },
  },
});
const set = (web: string): string =>
  documents(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'web' } },
    extension('db', '1.x', 'stable'),
    extension('web', web, 'stable'),
  );

const MODES = (type: string) => ({
  type: 'olm.csv.metadata',
  value: { installModes: [{ type, supported: true }] },
});
const DB = 'catalogs/v4.20/db/catalog.yaml';
const WEB = 'catalogs/v4.20/web/catalog.yaml';
const BASE: Files = {
  '.github/portolan.yaml': POLICY,
  [DB]: operator('db', ['1.0.0', '1.1.0'], MODES('AllNamespaces')),
  [WEB]: operator('web', ['1.0.0', '1.1.0'], MODES('AllNamespaces')),
  [SET]: set('1.1.0'),
};

async function checked(after: Files, before: Files = {}) {
  const source = makeRepository();
  onTestFinished(source.remove);
  const base = source.commit({ ...BASE, ...before });
  const head = source.commit({ ...BASE, ...before, ...after }, { parents: [base] });
  const words = ['check', '--base', base, '--head', head, '--format', 'json'];
  const { exit, out } = await portolan(source.directory, ...words);
  const { findings, unchecked, verdict } = JSON.parse(out) as {
    findings: readonly { rule: string; message: string; location: { file: string } }[];
    unchecked: readonly { what: string; why: string }[];
    verdict: string;
  };
  const broken = findings
    .filter(({ rule }) => rule === 'graph/install-set-broken')
    .map(({ message, location }) => `${location.file}: ${message}`);
  return { exit, broken, unchecked, verdict };
}

const BROKEN = `the set ${SET} can no longer be installed under OLM v1: `;

test.each<readonly [string, Files, string]>([
  [
    'a pinned version is gone',
    { [WEB]: operator('web', ['1.0.0', '1.2.0'], MODES('AllNamespaces')) },
    `${WEB}: ${BROKEN}no bundles found for package "web" matching version "1.1.0" in channels [stable]`,
  ],
  [
    'no version of a range is left',
    { [DB]: operator('db', ['2.0.0'], MODES('AllNamespaces')) },
    `${DB}: ${BROKEN}no bundles found for package "db" matching version "1.x" in channels [stable]`,
  ],
  [
    'a package is gone',
    { [DB]: null },
    `${SET}: ${BROKEN}no bundles found for package "db" matching version "1.x" in channels [stable]`,
  ],
  [
    'a member declares a dependency',
    {
      [WEB]: operator('web', ['1.0.0', '1.1.0'], MODES('AllNamespaces'), {
        type: 'olm.package.required',
        value: { packageName: 'db', versionRange: '1.x' },
      }),
    },
    `${WEB}: ${BROKEN}validating bundle "web.v1.1.0": bundle "web.v1.1.0" has a dependency declared via property "olm.package.required" which is currently not supported`,
  ],
  [
    'a member supports only several namespaces',
    { [WEB]: operator('web', ['1.0.0', '1.1.0'], MODES('MultiNamespace')) },
    `${WEB}: ${BROKEN}web.v1.1.0: it does not support the install mode AllNamespaces`,
  ],
])('59: %s: the set is broken', async (_, after, expected) => {
  expect((await checked(after)).broken).toEqual([expected]);
});

test.each<readonly [string, Files, Files]>([
  ['a newer version', { [WEB]: operator('web', ['1.0.0', '1.1.0', '1.2.0'], MODES('AllNamespaces')) }, {}],
  [
    'another pin in the same pull request',
    { [WEB]: operator('web', ['1.0.0', '1.2.0'], MODES('AllNamespaces')), [SET]: set('1.2.0') },
    {},
  ],
  ['a set that is no longer published', { [DB]: null, [SET]: null }, {}],
  [
    'a set that could not be installed before',
    { [WEB]: operator('web', ['1.0.0']) },
    { [SET]: set('9.0.0') },
  ],
  [
    'clusters without OLM v1',
    { [DB]: null },
    { '.github/portolan.yaml': POLICY.replace('graph: {', 'graph: {olm: [v0], ') },
  ],
])('%s breaks no set', async (_, after, before) => {
  expect((await checked(after, before)).broken).toEqual([]);
});

test('59: an empty version or list of channels is none', async () => {
  const extension = `kind: ClusterExtension\nspec: {source: {catalog: {packageName: db, version: , channels: }}}\n`;
  expect(await checked({ [DB]: null }, { [SET]: extension })).toMatchObject({
    broken: [`${SET}: ${BROKEN}no bundles found for package "db"`],
    unchecked: [],
  });
});

test('59: a set that cannot be read leaves the check inconclusive', async () => {
  const grown = { [WEB]: operator('web', ['1.0.0', '1.1.0', '1.2.0'], MODES('AllNamespaces')) };
  for (const [text, why] of [
    ['kind: [', /./],
    ['kind: Namespace\n', /it has no ClusterExtension/],
    ['kind: ClusterExtension\n', /no spec.source.catalog with packageName/],
  ] as const) {
    const { verdict, unchecked } = await checked({ ...grown, [SET]: text });
    expect(verdict).toBe('inconclusive');
    expect(unchecked).toContainEqual({
      what: `whether the set ${SET} can still be installed`,
      why: expect.stringMatching(why),
    });
  }
});
