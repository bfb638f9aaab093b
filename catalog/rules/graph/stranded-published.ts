import { type Installation, installationsOf } from '../../olm/foresight/installation.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import type { Rule } from '../rule.ts';
import { reportStranded, type Stranded } from '../stranding.ts';

/** After this many days most clusters have gone on. */
const LONG_AGO = 365;

export const rule: Rule = {
  id: 'graph/stranded-published',
  effect: { one: 'loses its upgrade path', many: 'lose their upgrade path', olm: 'v0' },
  severity: 'error',
  summary: 'Reports published bundles without an upgrade path to the head of their channel under OLM v0',
  reads: ['history'],
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    const stranded = checkedPackages(world).flatMap(({ name }) =>
      installationsOf(world, name).flatMap((one) => strandedOf(world, name, one)),
    );
    reportStranded(world, stranded, { report, olm: 'v0', verb: 'cannot reach' });
  },
};

function strandedOf(world: World, name: string, { channel, installed, published }: Installation): Stranded[] {
  // stranded-v0 reports versions that the catalog still has; channel-removed reports removed channels.
  if (!published || !world.catalog.packages.get(name)?.channels.has(channel)) return [];
  const path = world.foresight.v0({ package: name, channel }, installed);
  if (path.arrives || path.last.kind === 'fails') return [];
  const severity = isLongAgo(published.last, world.asOf) ? 'warning' : 'error';
  return [{ package: name, channel, installed, path, severity }];
}

function isLongAgo(last: string | undefined, asOf: string | undefined): boolean {
  if (last === undefined || asOf === undefined) return false;
  const days = (Date.parse(asOf) - Date.parse(last)) / 86_400_000;
  return days > LONG_AGO;
}
