import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { load } from '../../../../catalog/fbc/load.ts';
import { catalogOf } from '../../../../catalog/fbc/model.ts';
import { worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { AS_TODAY, type Stops } from '../../../../catalog/olm/suggest/policy.ts';
import { suggestGraph } from '../../../../catalog/olm/suggest/suggestion.ts';
import { sourceOf } from '../../../../catalog/source.ts';

/**
 * Channels and versions of eight packages of two public catalogs for 4.20 (redhat-openshift-ecosystem/community-operators-prod
 * and certified-operators, August 2026), without what the graph does not need.
 */
const text = readFileSync('test/catalog/olm/suggest/fixtures/real.jsonl', 'utf8');

async function suggested(stops: Stops): Promise<Record<string, string>> {
  const { blobs } = await load(sourceOf({ 'catalog.json': text }));
  const catalog = catalogOf(blobs);
  const world = await worldOf({ name: 'v4.20', catalog });
  return Object.fromEntries(
    [...catalog.packages.values()].map((one) => {
      const { channels, stranded } = suggestGraph(world, one, { ...AS_TODAY, stops });
      const today = channels.reduce((sum, channel) => sum + channel.today, 0);
      const entries = channels.reduce((sum, channel) => sum + channel.entries.length, 0);
      return [
        one.name,
        `${today} -> ${entries}, stranded ${stranded.today.length} -> ${stranded.suggested.length}`,
      ];
    }),
  );
}

test('real packages need fewer entries, and nobody is stranded who is not today', async () => {
  expect(await suggested('today')).toMatchInlineSnapshot(`
    {
      "aws-neuron-operator": "24 -> 20, stranded 12 -> 0",
      "clusterpulse": "9 -> 3, stranded 4 -> 0",
      "couchbase-enterprise-certified": "22 -> 15, stranded 0 -> 0",
      "dell-csm-operator": "13 -> 5, stranded 0 -> 0",
      "edb-hcp-operator": "31 -> 27, stranded 0 -> 0",
      "sailoperator": "52 -> 10, stranded 0 -> 0",
      "slurm-operator": "6 -> 3, stranded 4 -> 0",
      "trident-operator": "12 -> 11, stranded 0 -> 0",
    }
  `);
  expect(await suggested('none')).toMatchInlineSnapshot(`
    {
      "aws-neuron-operator": "24 -> 2, stranded 12 -> 0",
      "clusterpulse": "9 -> 2, stranded 4 -> 0",
      "couchbase-enterprise-certified": "22 -> 9, stranded 0 -> 0",
      "dell-csm-operator": "13 -> 1, stranded 0 -> 0",
      "edb-hcp-operator": "31 -> 12, stranded 0 -> 0",
      "sailoperator": "52 -> 10, stranded 0 -> 0",
      "slurm-operator": "6 -> 2, stranded 4 -> 0",
      "trident-operator": "12 -> 1, stranded 0 -> 0",
    }
  `);
});
