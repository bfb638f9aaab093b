import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, onTestFinished, test } from 'vitest';
import { bundle, documents, POLICY } from '../../fakes/gate.ts';
import { type Files, makeRepository } from '../../fakes/repository.ts';
import { portolan } from '../../fakes/terminal.ts';
import { WHOLE } from '../../fakes/whole-report.ts';

const schema = JSON.parse(readFileSync('docs/check-report.schema.json', 'utf8'));
const valid = new Ajv({ strict: true, allErrors: true }).compile(schema);

/** The report of a pull request that turns one state into another. */
async function report(before: Files, after: Files, ...more: readonly string[]): Promise<unknown> {
  const repository = makeRepository();
  onTestFinished(repository.remove);
  const base = repository.commit(before);
  const head = repository.commit(after, { parents: [base] });
  const words = ['check', '--base', base, '--head', head, '--format', 'json', ...more];
  return JSON.parse((await portolan(repository.directory, ...words)).out);
}

const FILE = 'catalogs/v4.20/etcd/catalog.yaml';

function catalog(channels: Readonly<Record<string, readonly object[]>>, versions: readonly string[]): string {
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: Object.keys(channels)[0] },
    ...Object.entries(channels).map(([name, entries]) => ({
      schema: 'olm.channel',
      package: 'etcd',
      name,
      entries,
    })),
    ...versions.map((version) => bundle('etcd', version)),
    {
      schema: 'olm.deprecations',
      package: 'etcd',
      entries: [{ reference: { schema: 'olm.package' }, message: `as of ${versions.length}` }],
    },
  );
}

const ONE = catalog({ stable: [{ name: 'etcd.v1.0.0' }] }, ['1.0.0']);
const TWO = catalog(
  {
    fast: [
      { name: 'etcd.v1.1.0', skips: ['etcd.v1.0.0'] },
      { name: 'etcd.v1.2.0', replaces: 'etcd.v1.1.0', skips: ['etcd.v1.1.0'] },
    ],
    stable: [{ name: 'etcd.v1.1.0', skipRange: '<1.1.0' }],
  },
  ['1.1.0', '1.2.0'],
);

const WAIVED = `${POLICY}waivers:
- {rule: graph/strands-installed-v0, package: etcd, until: 2099-01-01, reason: known}
- {rule: graph/channel-removed, package: etcd, until: 2020-01-01, reason: over}
`;

test.each<[string, Files, Files, readonly string[]]>([
  ['nothing of the catalogs', { [FILE]: null, 'README.md': 'a' }, { 'README.md': 'b' }, []],
  [
    'a new package',
    { [FILE]: null, 'README.md': 'a' },
    { 'README.md': 'a', [FILE]: ONE },
    ['--author', 'bob#11'],
  ],
  ['a channel, edges and heads', { [FILE]: ONE }, { [FILE]: TWO }, []],
  ['what is lost', { [FILE]: TWO }, { [FILE]: ONE }, ['--author', 'mallory#66']],
  ['a package that goes', { [FILE]: TWO }, { [FILE]: null, 'README.md': 'a' }, []],
  ['what is waived', { [FILE]: TWO, '.github/portolan.yaml': WAIVED }, { [FILE]: ONE }, []],
  ['a policy that cannot be read', { '.github/portolan.yaml': 'kind: 7\n' }, { [FILE]: ONE }, []],
  ['broken YAML', { [FILE]: ONE }, { [FILE]: 'a: [' }, []],
])('the report of %s is as its schema says', async (_, before, after, more) => {
  valid(await report(before, after, ...more));
  expect(valid.errors).toBeNull();
});

test('the schema has each property of a report, and a report can have each property of the schema', () => {
  valid(WHOLE);
  expect(valid.errors).toBeNull();
  expect(neverIn(WHOLE)).toEqual([]);
});

/** The properties of the schema that a report does not have anywhere, as `object/property`. */
function neverIn(report: unknown): string[] {
  const seen = new Set<Schema>();
  const all = new Map<Schema, string>();
  const walk = (node: Schema, value: unknown, name: string): void => {
    const { $ref, properties = {}, items } = node;
    if ($ref !== undefined) walk(schema.definitions[$ref.slice('#/definitions/'.length)], value, name);
    if (items) for (const one of Array.isArray(value) ? value : [undefined]) walk(items, one, name);
    for (const [key, property] of Object.entries(properties)) {
      all.set(property, `${name}/${key}`);
      const member = (value as Readonly<Record<string, unknown>> | undefined)?.[key];
      if (member !== undefined) seen.add(property);
      walk(property, member, key);
    }
  };
  walk(schema, report, '');
  return [...all].filter(([property]) => !seen.has(property)).map(([, name]) => name);
}

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}
