/** What both OLMs do with the operators of a cluster that has some catalogs, until nothing changes. */

import type { Cel } from '../../fbc/cel/cel.ts';
import { NO_BLOBS } from '../../fbc/model.ts';
import { groupedBy } from '../../go/grouped.ts';
import { detailedPathV1 } from '../../olm/foresight/detailed-path.ts';
import { type Member, namespaceUpgrades } from '../../olm/foresight/namespace-path.ts';
import { MOST_EFFORT } from '../../olm/foresight/world.ts';
import type { PlacedTarget } from '../../olm/resolve/outcome.ts';
import type { Scope, ScopeCatalog } from '../../olm/resolve/snapshot.ts';
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
  const budget = { cel, effort: { left: MOST_EFFORT } };
  const extensions = placed.filter(({ operator }) => operator.olm !== 'v0');
  // OLM v0 resolves the operators of a namespace together.
  const namespaces = groupedBy(
    placed.filter(({ operator }) => operator.olm === 'v0'),
    ({ operator }) => operator.namespace,
  );
  const outcomes = [
    ...extensions.map((one) => extensionSwitch(one, { ...budget, catalogs: sources })),
    ...[...namespaces].map(([namespace, some]) =>
      namespaceSwitch(namespace, some, { sources, scope: { ...budget, catalogs: [...sources, ...beside] } }),
    ),
  ];
  return {
    steps: outcomes.flatMap(({ steps }) => steps),
    reasons: outcomes.flatMap(({ reasons }) => reasons),
  };
}

/** What OLM v1 does with a ClusterExtension. */
function extensionSwitch({ operator, channel, version }: PlacedOperator, scope: Scope): Simulated {
  const spec = specOf(operator, channel, tryParseVersion(version));
  const { steps, last } = detailedPathV1(scope, spec, operator.installed);
  const { package: name, namespace } = operator;
  const reason = last.kind === 'circle' ? 'the upgrades form a circle' : last.reason.text;
  return {
    steps: steps.map(({ to }) => ({ operator, package: name, namespace, to })),
    reasons: last.kind === 'stays' ? [] : [`${name}: ${reason}`],
  };
}

/** What OLM v0 does with the Subscriptions of a namespace. */
function namespaceSwitch(
  namespace: string,
  placed: readonly PlacedOperator[],
  { sources, scope }: { readonly sources: readonly ScopeCatalog[]; readonly scope: Scope },
): Simulated {
  const members = placed.map(({ operator, channel }): Member => {
    const source = sources.find(({ catalog }) => catalog.packages.has(operator.package)) ?? NOTHING;
    return { source, place: { package: operator.package, channel }, installed: operator.installed };
  });
  const { steps, reason } = namespaceUpgrades(scope, members, { addsRequired: true });
  return {
    steps: steps.map(({ package: name, to, isNew }) => {
      const own = placed.find(({ operator }) => operator.package === name);
      return { operator: isNew ? undefined : own?.operator, package: name, namespace, to };
    }),
    reasons: reason ? [reason.text] : [],
  };
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
