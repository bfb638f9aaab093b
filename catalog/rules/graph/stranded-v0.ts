import { chainBelow, headOf } from '../../fbc/channel.ts';
import { installedOf } from '../../fbc/edge.ts';
import type { Channel, Package } from '../../fbc/model.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import type { Rule } from '../rule.ts';
import { reportStranded, type Stranded } from '../stranding.ts';

export const rule: Rule = {
  id: 'graph/stranded-v0',
  effect: { one: 'has no upgrade path', many: 'have no upgrade path', olm: 'v0' },
  severity: 'error',
  summary: 'Reports bundles without an upgrade path to the head of their channel under OLM v0',
  reads: ['history'],
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    const stranded = checkedPackages(world).flatMap((ofPackage) =>
      [...ofPackage.channels.values()].flatMap((channel) => strandedIn(world, ofPackage, channel)),
    );
    reportStranded(world, stranded, { report, olm: 'v0', verb: 'cannot reach' });
  },
};

function strandedIn({ foresight }: World, ofPackage: Package, channel: Channel): Stranded[] {
  const hidesCircle = isSoundToOpm(channel);
  return channel.entries.flatMap((entry) => {
    const bundle = ofPackage.bundles.get(entry.name);
    if (!bundle) return [];
    const installed = installedOf(bundle);
    const path = foresight.v0({ package: ofPackage.name, channel: channel.name }, installed);
    if (path.arrives) return [];
    // Other rules report channels that opm refuses, entries without bundles, and missing dependencies.
    if (path.last.kind === 'fails' && !(hidesCircle && path.last.reason.code === 'no-order')) return [];
    if (isBlocked(path.last)) return [];
    return [{ package: ofPackage.name, channel: channel.name, installed, path }];
  });
}

/** opm stops at what is skipped, so it sees no circle below that; OLM v0 walks on, and fails for the whole namespace. */
function isSoundToOpm(channel: Channel): boolean {
  const head = headOf(channel);
  return head !== undefined && chainBelow(channel, head).cycle === undefined;
}

function isBlocked(last: UpgradePath['last']): boolean {
  return last.kind === 'stays' && ['successor-blocked', 'successor-missing'].includes(last.reason.code);
}
