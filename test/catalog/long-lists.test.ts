/** Lists that are longer than the arguments a call may have: what joins them takes their items one by one. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addedByReplaces } from '../../catalog/edit/by-replaces.ts';
import { graphOf } from '../../catalog/edit/package-graph.ts';
import { migratePolicies } from '../../catalog/mirror/documents/migrate.ts';
import { readObjects } from '../../catalog/mirror/read.ts';
import { channelTable } from '../../catalog/opm/list-tables.ts';
import { parseVersion } from '../../catalog/version/version.ts';
import { catalogFrom } from './olm/universe.ts';

/** V8 takes about 120,000 arguments. */
const MANY = 150_000;

test('a policy with many defective mirrors has a finding for each', () => {
  const spec = { repositoryDigestMirrors: Array(MANY).fill({ source: 'quay.io/a', mirrors: [1] }) };
  const policy = {
    apiVersion: 'operator.openshift.io/v1alpha1',
    kind: 'ImageContentSourcePolicy',
    metadata: { name: 'a' },
    spec,
  };
  const { objects } = readObjects(JSON.stringify(policy), 'a.json');
  expect(migratePolicies(objects).findings).toHaveLength(MANY);
});

test('a table of many channels has a line for each', async () => {
  const channels = { c: [{ name: 'p.v1.0.0' }] };
  const catalog = await catalogFrom({ p: { versions: ['1.0.0'], channels } });
  const pkg = catalog.packages.get('p');
  const channel = pkg?.channels.get('c');
  if (!pkg || !channel) throw new Error('the channel is missing');
  const names = Array.from({ length: MANY }, (_, i) => `c${i}`);
  const many = new Map(names.map((name) => [name, { ...channel, name }]));
  const table = channelTable({ ...catalog, packages: new Map([['p', { ...pkg, channels: many }]]) });
  expect(table.split('\n')).toHaveLength(MANY + 2);
});

test('a bundle is put on top of one that skips many', async () => {
  const skips = Array.from({ length: MANY }, (_, i) => `p.v0.0.${i}`);
  const entry = { name: 'p.v1.0.0', skips };
  const catalog = await catalogFrom({ p: { versions: ['1.0.0', '1.1.0'], channels: { c: [entry] } } });
  const pkg = catalog.packages.get('p');
  const blob = pkg?.bundles.get('p.v1.1.0');
  if (!blob) throw new Error('the bundle is missing');
  const place = { channels: ['c'], defaultChannel: 'c', replaces: 'p.v1.0.0', skips: [], skipRange: '' };
  const added = [{ blob, version: parseVersion('1.1.0'), ...place }];
  const { lanes } = addedByReplaces(graphOf(pkg), added);
  expect(lanes.get('c')?.map(({ name }) => name)).toEqual(['p.v1.1.0', 'p.v1.0.0']);
});

test('no list of unknown length is spread into a call', () => {
  const files = readdirSync('catalog', { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const spreading = files.filter((file) =>
    /\.(?:push|unshift)\(\s*\.\.\.|Math\.(?:max|min)\(\s*\.\.\./.test(
      readFileSync(`catalog/${file}`, 'utf8'),
    ),
  );
  // Two ranks.
  expect(spreading).toEqual(['olm/resolve/next-v1.ts']);
});
