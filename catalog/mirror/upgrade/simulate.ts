/** What both OLMs do with the operators of a cluster that has some catalogs, until nothing changes. */

import type { Cel } from '../../fbc/cel/cel.ts';
import { NO_BLOBS } from '../../fbc/model.ts';
import { detailedPathV1 } from '../../olm/foresight/detailed-path.ts';
import { type Member, namespaceUpgrades } from '../../olm/foresight/namespace-path.ts';
import { MOST_EFFORT } from '../../olm/foresight/world.ts';
import type { PlacedTarget } from '../../olm/resolve/outcome.ts';
import type { ScopeCatalog } from '../../olm/resolve/snapshot.ts';
import { tryParseVersion } from '../../version/version.ts';
import type { ClusterOperator } from './cluster.ts';
import { specOf } from './stage-choice.ts';

/** An operator as it is to be in the cluster now: with the channel that it gets. */
export interface PlacedOperator {
  readonly operator: ClusterOperator;
  readonly channel: string;
  /** The version that it is to get to, which the range of a ClusterExtension lets in. */
  readonly version: string;
}

export interface OperatorStep {
  /** Undefined for what OLM v0 installs because others require it. */
  readonly operator: ClusterOperator | undefined;
  readonly package: string;
  readonly namespace: string;
  readonly to: PlacedTarget;
}

interface Simulated {
  readonly steps: readonly OperatorStep[];
  /** What OLM complains about. */
  readonly reasons: readonly string[];
}

/**
 * Simulates what OLM does with operators that are switched to new catalogs.
 *
 * @param sources catalogs that Subscriptions name and extensions find, each package in one of them
 * @param beside catalogs in which OLM v0 finds only what others require
 */
export function simulateSwitch(
  placed: readonly PlacedOperator[],
  sources: readonly ScopeCatalog[],
  { cel, beside = [] }: { readonly cel: Cel | undefined; readonly beside?: readonly ScopeCatalog[] },
): Simulated {
  const scope = { cel, effort: { left: MOST_EFFORT } };
  const steps: OperatorStep[] = [];
  const reasons: string[] = [];
  const namespaces = new Map<string, PlacedOperator[]>();
  for (const one of placed) {
    const { operator, channel, version } = one;
    // OLM v0 resolves the operators of a namespace together.
    if (operator.olm === 'v0') {
      const list = namespaces.get(operator.namespace) ?? [];
      namespaces.set(operator.namespace, [...list, one]);
      continue;
    }
    const spec = specOf(operator, channel, tryParseVersion(version));
    const { steps: found, last } = detailedPathV1({ ...scope, catalogs: sources }, spec, operator.installed);
    const { package: name, namespace } = operator;
    steps.push(...found.map(({ to }) => ({ operator, package: name, namespace, to })));
    if (last.kind !== 'stays')
      reasons.push(`${name}: ${last.kind === 'circle' ? 'the upgrades form a circle' : last.reason.text}`);
  }
  for (const [namespace, some] of namespaces) {
    const members = some.map(({ operator, channel }): Member => {
      const source = sources.find(({ catalog }) => catalog.packages.has(operator.package)) ?? NOTHING;
      return { source, place: { package: operator.package, channel }, installed: operator.installed };
    });
    const found = namespaceUpgrades({ ...scope, catalogs: [...sources, ...beside] }, members, true);
    for (const { package: name, to, isNew } of found.steps) {
      const own = some.find(({ operator }) => operator.package === name);
      steps.push({ operator: isNew ? undefined : own?.operator, package: name, namespace, to });
    }
    if (found.reason) reasons.push(found.reason.text);
  }
  return { steps, reasons };
}

/** Of a Subscription whose package no catalog has. */
const NOTHING: ScopeCatalog = {
  name: 'none',
  namespace: 'olm',
  priority: 0,
  catalog: {
    packages: new Map(),
    blobs: NO_BLOBS,
  },
  serving: true,
};
