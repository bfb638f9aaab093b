import { installedOf } from '../../graph/edge.ts';
import { upgradeOf } from '../../graph/outcome.ts';
import { offerOfBundle } from '../../graph/snapshot.ts';
import { judgedPackages, type World } from '../../graph/world.ts';
import type { Package } from '../../model.ts';
import { placeOfHead } from '../place.ts';
import type { Rule } from '../rule.ts';

/**
 * Custom resource definitions are in bundles, not in catalogs: until these are looked
 * into, the rule says how much it has not checked.
 */
export const rule: Rule = {
  id: 'graph/crd-unsafe-edge',
  severity: 'error',
  summary:
    'No upgrade that clusters make changes a custom resource definition in a way that existing objects do not survive',
  foresee(world, report) {
    for (const ofPackage of judgedPackages(world)) {
      const [channel] = ofPackage.channels.values();
      if (!channel || !hasUsedEdge(world, ofPackage)) continue;
      const message =
        'not checked: whether custom resources survive the upgrades of this catalog, which does not hold their definitions';
      report(message, placeOfHead(channel), { severity: 'info' });
      return;
    }
  },
};

/** Whether clusters go by themselves from one bundle that serves a kind of object to another. */
function hasUsedEdge({ foresight, olm }: World, ofPackage: Package): boolean {
  const serves = (name: string | undefined): boolean => {
    const bundle = name === undefined ? undefined : ofPackage.bundles.get(name);
    return bundle !== undefined && offerOfBundle(bundle).gvks.length > 0;
  };
  return [...ofPackage.channels.values()].some((channel) =>
    channel.entries.some(({ name }) => {
      const bundle = ofPackage.bundles.get(name);
      if (!bundle || !serves(name)) return false;
      const from = installedOf(bundle);
      const place = { package: ofPackage.name, channel: channel.name };
      const next = olm.has('v0')
        ? foresight.v0(place, from).next
        : foresight.v1({ ...place, channels: [] }, from).next;
      return serves(upgradeOf(next)?.to.name);
    }),
  );
}
