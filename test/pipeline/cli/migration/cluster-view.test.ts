import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ClusterApi } from '../../../../pipeline/cli/inventory/cluster-api.ts';
import { viewOfCluster } from '../../../../pipeline/cli/migration/cluster-view.ts';
import { checksOf, clusterChecks } from '../../../../pipeline/cli/migration/library-olm.ts';
import { type ClusterObject, catalogSource, objectSets, subscribed } from '../../../fakes/v0-cluster.ts';

/** An API with some objects, whose lists leave out the kind as the real one does. */
function apiOf(objects: readonly ClusterObject[], asked: string[] = []): ClusterApi {
  const all = new Map<string, ClusterObject[]>();
  for (const { kind, apiVersion, ...rest } of objects) {
    const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`;
    all.set(path, [...(all.get(path) ?? []), rest as ClusterObject]);
  }
  return {
    list: async (path) => {
      asked.push(path);
      return all.get(path);
    },
    get: async (path) => {
      asked.push(path);
      const [folder, name] = [path.replace(/\/[^/]*$/, ''), path.replace(/.*\//, '')];
      return all.get(folder)?.find(({ metadata }) => metadata.name === name);
    },
    close: () => undefined,
  };
}

const WHOLE = [...subscribed('etcd'), catalogSource(), objectSets()];

test('a cluster is known as a whole: what is not there is not on it', async () => {
  const view = await viewOfCluster(apiOf(WHOLE), 'east');
  const [subscription = {}] = view.all('Subscription');
  const results = checksOf(view, subscription).map(({ result }) => result);
  expect(new Set(results)).toEqual(new Set(['pass']));
  expect(clusterChecks(view)[0]?.result).toBe('pass');
});

test('what is asked is in the rules of the documentation', async () => {
  const asked: string[] = [];
  await viewOfCluster(apiOf(WHOLE, asked), 'east');
  const pages = ['docs/olm-v1.md', 'docs/fleet.md'].map((page) => readFileSync(page, 'utf8')).join('\n');
  const documented = [...pages.matchAll(/resources: \[([^\]]*)\]/g)].flatMap(([, names = '']) =>
    names.split(', '),
  );
  const kinds = asked.map((path) => path.split('/')[4] ?? '');
  expect(kinds.length).toBeGreaterThan(8);
  expect(kinds.filter((kind) => !documented.includes(kind))).toEqual([]);
});

test.each([
  ['a cluster without OLM v0', [], 'cluster "east" has no OLM v0'],
  [
    'an object without a name',
    [...WHOLE, { ...catalogSource(), metadata: { name: '' } }],
    'the cluster answered with a CatalogSource without metadata.name',
  ],
])('%s is refused', async (_, objects, why) => {
  await expect(viewOfCluster(apiOf(objects), 'east')).rejects.toThrow(why);
});
