// pulls.json: what a node with the recorded documents asks, and what it gets of the
// recorded mapping.

import type { CatalogImages } from '../../catalog/mirror/images.ts';
import { readMapping } from '../../catalog/mirror/mapping.ts';
import { type NodeConfig, nodeConfig, pullOnNode } from '../../catalog/mirror/node/node.ts';
import { mirrorRules, readObjects } from '../../catalog/mirror/read.ts';
import { contentsOf, type MirrorContents, mirrorReadiness } from '../../catalog/mirror/readiness.ts';

export interface Recorded {
  /** All mirror documents, one behind the other. */
  readonly documents: string;
  readonly mapping: string;
}

export function recordedConfig({ documents }: Recorded): NodeConfig {
  const { rules, findings } = mirrorRules(readObjects(documents, 'documents.yaml').objects);
  if (findings.length > 0) throw new Error(`recorded documents: ${findings[0]?.message}`);
  return nodeConfig(rules);
}

export function recordedContents({ mapping }: Recorded): MirrorContents {
  return contentsOf(readMapping(mapping, 'mapping.txt').mappings);
}

const EMPTY = { others: [], doubtful: new Map(), empty: [], findings: [] };

interface Pulls {
  readonly pulls: Readonly<Record<string, { pull?: string[]; sourceBlocked?: boolean; error?: string }>>;
  readonly unpullable: Readonly<Record<string, unknown>>;
  readonly [count: string]: unknown;
}

/** Names what differs from `pulls.json`, or undefined. */
export function comparePulls(
  text: string,
  recorded: Recorded,
  catalogs: readonly CatalogImages[],
): string | undefined {
  const expected = JSON.parse(text) as Pulls;
  const config = recordedConfig(recorded);
  for (const [reference, answer] of Object.entries(expected.pulls)) {
    const ours = pullOnNode(config, reference);
    if ('refused' in ours) {
      if (!answer.error?.endsWith(ours.refused)) return `${reference}: refused: ${ours.refused}`;
    } else if (
      JSON.stringify([ours.asked, ours.sourceBlocked]) !== JSON.stringify([answer.pull, answer.sourceBlocked])
    ) {
      return `${reference}: asks ${ours.asked.join(', ')}`;
    }
  }
  return compareCounts(expected, config, recorded, catalogs);
}

function compareCounts(
  expected: Pulls,
  config: NodeConfig,
  recorded: Recorded,
  catalogs: readonly CatalogImages[],
): string | undefined {
  // The recorder kept the last of several bundles of one name.
  const all = catalogs.flatMap((catalog) => catalog.bundles);
  const bundles = [...new Map(all.map((bundle) => [`${bundle.package}/${bundle.name}`, bundle])).values()];
  const contents = recordedContents(recorded);
  const references = mirrorReadiness(catalogs, config, contents);
  const readable = new Map(catalogs.flatMap((catalog) => [...catalog.readable]));
  const ready = mirrorReadiness([{ ...EMPTY, bundles, readable }], config, contents);
  const missing = new Set(
    references.bundles.flatMap((bundle) => bundle.missing.map(({ reference }) => reference)),
  );
  const counts: Readonly<Record<string, number>> = {
    bundles: bundles.length,
    bundles_fully_pullable: ready.ready + ready.unchecked,
    packages: ready.packages.length,
    packages_all_bundles_pullable: ready.packages.filter((one) => one.ready + one.unchecked === one.bundles)
      .length,
    packages_no_bundle_pullable: ready.packages.filter((one) => one.ready + one.unchecked === 0).length,
    refs: references.references,
    pullable: references.pullable,
  };
  const wrong = Object.entries(counts).find(([name, count]) => expected[name] !== count);
  if (wrong) return `${wrong[0]} is ${wrong[1]}, recorded ${String(expected[wrong[0]])}`;
  const lost = Object.keys(expected.unpullable).filter((reference) => !missing.has(reference));
  return lost.length === 0 ? undefined : `${lost[0]} is pullable`;
}
