/**
 * The shapes of pull requests that a real community repository gets, with our own small
 * data: what they change, and what they take.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { POLICY_PATH } from '../../../pipeline/policy/read-policy.ts';
import { catalogOf, documents, type Gate, openGate, type Who } from '../../fakes/gate.ts';
import type { Files } from '../../fakes/repository.ts';

let gate: Gate;
beforeAll(async () => {
  gate = await openGate();
});
afterAll(() => gate.close());

const POLICY = `apiVersion: portolan/v1alpha1
kind: Portolan
owners: {admins: [alice, amy]}
automation:
- {id: 99, login: robot, packages: ['*'], may: [add-entry, edit-graph, promote], maxPackages: 1}
`;
const CATALOGS = ['v4.14', 'v4.15', 'v4.16', 'v4.17', 'v4.18', 'v4.19'];
const OLD = ['1.0.0', '1.1.0'];
const NEXT = [...OLD, '1.2.0'];

/** A package in catalogs, each with these versions. */
function inCatalogs(
  name: string,
  versions: readonly string[] | null,
  catalogs: readonly string[] = CATALOGS,
): Files {
  const text = versions && catalogOf(name, versions);
  return Object.fromEntries(catalogs.map((catalog) => [`catalogs/${catalog}/${name}/catalog.yaml`, text]));
}

function bundleFiles(name: string, version: string, text: string | null): Files {
  return Object.fromEntries(
    ['manifests/csv.yaml', 'manifests/crd.yaml', 'metadata/annotations.yaml'].map((file) => [
      `operators/${name}/${version}/${file}`,
      text,
    ]),
  );
}

const template = (name: string, text: string | null, file = 'basic.yaml'): Files => ({
  [`operators/${name}/catalog-templates/${file}`]: text,
});
const owners = (name: string, more = ''): Files => ({
  [`operators/${name}/ci.yaml`]: `reviewers: [bob]\n${more}`,
});
const TEMPLATE = 'schema: olm.template.basic\nentries: []\n';

/** sail is bob's, in six catalogs, with a template and its first bundle. */
const SAIL: Files = {
  [POLICY_PATH]: POLICY,
  ...inCatalogs('sail', OLD),
  ...template('sail', TEMPLATE),
  ...bundleFiles('sail', '1.0.0', 'a: b\n'),
  ...owners('sail'),
  ...inCatalogs('other', OLD),
  ...owners('other'),
};

interface Shape {
  readonly name: string;
  readonly base?: Files;
  readonly head: Files;
  readonly author: Who;
  readonly classes: Readonly<Record<string, string>>;
  /** Who must still act, or `allow`. */
  readonly takes: 'allow' | 'owner' | 'admin' | 'author';
}

const ALL_VERSIONS = ['v4.12', 'v4.13', ...CATALOGS, 'v4.20', 'v4.21', 'v4.22', 'v4.23', 'v5.0'];

const SHAPES: readonly Shape[] = [
  {
    name: '1: a program adds an entry to six catalogs and the template',
    head: { ...inCatalogs('sail', NEXT), ...template('sail', `${TEMPLATE}# 1.2.0\n`) },
    author: 'robot',
    classes: { sail: 'add-entry edit-graph' },
    takes: 'allow',
  },
  {
    name: '2: a program prunes a nightly with its bundle, which is beyond its scope',
    head: {
      ...inCatalogs('sail', ['1.1.0']),
      ...bundleFiles('sail', '1.0.0', null),
      ...template('sail', `${TEMPLATE}#\n`),
    },
    author: 'robot',
    classes: { sail: 'edit-graph prune' },
    takes: 'owner',
  },
  {
    name: '3: a program adds a version to two catalogs and two templates',
    head: {
      ...inCatalogs('sail', NEXT, CATALOGS.slice(0, 2)),
      ...template('sail', TEMPLATE, 'v4.14.yaml'),
      ...template('sail', TEMPLATE, 'v4.15.yaml'),
    },
    author: 'robot',
    classes: { sail: 'add-entry edit-graph' },
    takes: 'allow',
  },
  {
    name: '4: an admin promotes a package to the newest catalog',
    base: inCatalogs('other', OLD, ['v4.20']),
    head: { ...inCatalogs('sail', OLD, ['v4.20']), ...owners('sail', 'fbc: {enabled: true}\n') },
    author: 'alice',
    classes: { sail: 'package-config promote' },
    takes: 'allow',
  },
  {
    name: '5: an owner takes a package to file-based catalogs, two of them new',
    base: {
      ...inCatalogs('other', OLD, ALL_VERSIONS.slice(0, 11)),
      ...bundleFiles('fresh', '1.0.0', 'a: b\n'),
      ...owners('fresh'),
    },
    head: {
      ...inCatalogs('fresh', OLD, ALL_VERSIONS),
      ...template('fresh', TEMPLATE),
      ...owners('fresh', 'fbc: {enabled: true}\n'),
      'operators/fresh/Makefile': 'all:\n',
    },
    author: 'bob',
    classes: { fresh: 'add-entry edit-graph package-config', 'new-catalog': 'v5.0' },
    takes: 'admin',
  },
  {
    name: '6: an owner deletes a package with everything',
    head: {
      ...inCatalogs('sail', null),
      ...template('sail', null),
      ...bundleFiles('sail', '1.0.0', null),
      'operators/sail/ci.yaml': null,
    },
    author: 'bob',
    classes: { sail: 'delete-package' },
    takes: 'admin',
  },
  {
    name: '7: an owner brings back an icon',
    head: Object.fromEntries(
      CATALOGS.slice(0, 4).map((catalog) => [
        `catalogs/${catalog}/sail/catalog.yaml`,
        catalogOf('sail', OLD).replace(
          '"defaultChannel"',
          '"icon":{"base64data":"AA==","mediatype":"image/png"},"defaultChannel"',
        ),
      ]),
    ),
    author: 'bob',
    classes: { sail: 'edit-graph' },
    takes: 'allow',
  },
  {
    name: '8: a program brings the first catalogs of a package',
    base: { ...bundleFiles('fresh', '1.0.0', 'a: b\n'), ...owners('fresh') },
    head: { ...inCatalogs('fresh', ['1.0.0'], CATALOGS.slice(0, 5)), ...template('fresh', TEMPLATE) },
    author: 'robot',
    classes: { fresh: 'add-entry edit-graph' },
    takes: 'allow',
  },
  {
    name: '9: a program changes six catalogs and brings the package to a seventh',
    base: inCatalogs('other', OLD, ['v4.20']),
    head: {
      ...inCatalogs('sail', NEXT, [...CATALOGS, 'v4.20']),
      ...Object.assign(
        {},
        ...[...CATALOGS, 'v4.20'].map((catalog) => template('sail', TEMPLATE, `${catalog}.yaml`)),
      ),
    },
    author: 'robot',
    classes: { sail: 'add-entry edit-graph promote' },
    takes: 'allow',
  },
  {
    name: '10: an owner takes one template apart into one for each catalog',
    head: {
      ...inCatalogs('sail', NEXT),
      ...template('sail', null),
      ...Object.assign({}, ...CATALOGS.map((catalog) => template('sail', TEMPLATE, `${catalog}.yaml`))),
      ...owners('sail', 'fbc: {enabled: true}\n'),
    },
    author: 'bob',
    classes: { sail: 'add-entry edit-graph package-config' },
    takes: 'allow',
  },
  {
    name: '11: an owner leaves five old catalogs and enters a new one',
    base: inCatalogs('other', OLD, ['v4.20']),
    head: { ...inCatalogs('sail', null, CATALOGS.slice(0, 5)), ...inCatalogs('sail', OLD, ['v4.20']) },
    author: 'bob',
    classes: { sail: 'promote prune' },
    takes: 'allow',
  },
  {
    name: '12: an owner renames a template',
    head: {
      ...template('sail', null),
      ...template('sail', TEMPLATE, 'semver.yaml'),
      ...inCatalogs('sail', NEXT, ['v4.19']),
    },
    author: 'bob',
    classes: { sail: 'add-entry edit-graph' },
    takes: 'allow',
  },
  {
    name: '13: an owner makes one template of ten',
    base: Object.assign(
      {},
      ...ALL_VERSIONS.slice(0, 10).map((catalog) => template('sail', TEMPLATE, `${catalog}.yaml`)),
    ),
    head: {
      ...Object.assign(
        {},
        ...ALL_VERSIONS.slice(0, 10).map((catalog) => template('sail', null, `${catalog}.yaml`)),
      ),
      ...template('sail', `${TEMPLATE}#\n`),
      ...inCatalogs('sail', NEXT),
    },
    author: 'bob',
    classes: { sail: 'add-entry edit-graph' },
    takes: 'allow',
  },
  {
    name: '14: an admin turns the metadata of three packages into the new format',
    base: Object.fromEntries(
      ['sail', 'other', 'third'].map((name) => [
        `catalogs/v4.17/${name}/catalog.yaml`,
        withMetadata(name, 'olm.bundle.object', { data: csvOf(name) }),
      ]),
    ),
    head: Object.fromEntries(
      ['sail', 'other', 'third'].map((name) => [
        `catalogs/v4.17/${name}/catalog.yaml`,
        withMetadata(name, 'olm.csv.metadata', { displayName: name }),
      ]),
    ),
    author: 'alice',
    classes: { sail: 'edit-graph', other: 'edit-graph', third: 'edit-graph' },
    takes: 'allow',
  },
  {
    name: '15: an owner takes a package out of all catalogs, its bundles stay',
    head: inCatalogs('sail', null),
    author: 'bob',
    classes: { sail: 'delete-package' },
    takes: 'admin',
  },
  {
    name: '16: an admin removes a package, its catalogs and hundreds of files of bundles',
    base: Object.assign(
      {},
      ...Array.from({ length: 120 }, (_, i) => bundleFiles('sail', `0.${i}.0`, 'a: b\n')),
    ),
    head: {
      ...inCatalogs('sail', null),
      ...template('sail', null),
      'operators/sail/ci.yaml': null,
      ...bundleFiles('sail', '1.0.0', null),
      ...Object.assign({}, ...Array.from({ length: 120 }, (_, i) => bundleFiles('sail', `0.${i}.0`, null))),
    },
    author: 'alice',
    classes: { sail: 'delete-package' },
    takes: 'admin',
  },
  {
    name: '17: a person’s second pull request brings eight catalogs and nothing else',
    base: {
      ...inCatalogs('other', OLD, ['v4.20', 'v4.21']),
      ...bundleFiles('fresh', '1.0.0', 'a: b\n'),
      ...owners('fresh'),
    },
    head: inCatalogs('fresh', ['1.0.0'], [...CATALOGS, 'v4.20', 'v4.21']),
    author: 'bob',
    classes: { fresh: 'add-entry' },
    takes: 'allow',
  },
  {
    name: '18: a person who is no owner edits channels in four catalogs, templates and settings',
    head: {
      ...Object.fromEntries(
        CATALOGS.slice(0, 4).map((catalog) => [
          `catalogs/${catalog}/sail/catalog.yaml`,
          catalogOf('sail', OLD).replace('"replaces":"sail.v1.0.0"', '"skips":["sail.v1.0.0"]'),
        ]),
      ),
      ...template('sail', `${TEMPLATE}#\n`),
      ...owners('sail', 'fbc: {enabled: true}\n'),
    },
    author: 'mallory',
    classes: { sail: 'edit-graph package-config' },
    takes: 'owner',
  },
  {
    name: '19: an admin cleans up many packages at once',
    base: Object.assign(
      {},
      ...Array.from({ length: 40 }, (_, i) => ({
        ...bundleFiles(`p${i}`, '1.0.0', 'a: b\n'),
        ...bundleFiles(`p${i}`, '2.0.0', 'a: b\n'),
        ...owners(`p${i}`),
      })),
    ),
    head: Object.assign({}, ...Array.from({ length: 40 }, (_, i) => bundleFiles(`p${i}`, '1.0.0', null))),
    author: 'alice',
    classes: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, 'prune'])),
    takes: 'allow',
  },
];

/** A ClusterServiceVersion in the format of bundle objects. */
function csvOf(displayName: string): string {
  const csv = { kind: 'ClusterServiceVersion', spec: { displayName } };
  return Buffer.from(JSON.stringify(csv)).toString('base64');
}

function withMetadata(name: string, type: string, value: object): string {
  const channel = {
    schema: 'olm.channel',
    package: name,
    name: 'stable',
    entries: [{ name: `${name}.v1.0.0` }],
  };
  const bundle = {
    schema: 'olm.bundle',
    package: name,
    name: `${name}.v1.0.0`,
    image: 'quay.io/a/b@sha256:0',
    properties: [
      { type: 'olm.package', value: { packageName: name, version: '1.0.0' } },
      { type, value },
    ],
  };
  return documents({ schema: 'olm.package', name, defaultChannel: 'stable' }, channel, bundle);
}

test.each(SHAPES)('$name', async ({ base, head, author, classes, takes }) => {
  const judged = await gate.judge({ bare: true, base: { ...SAIL, ...base }, head, author });
  expect(judged.change.unsafe).toEqual([]);
  expect(judged.classes).toEqual(classes);
  const { authority, needs } = judged.decision;
  expect(authority === 'allow' ? 'allow' : needs[0]?.who).toBe(takes);
});
