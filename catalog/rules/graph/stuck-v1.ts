import { installedOf } from '../../fbc/edge.ts';
import type { Bundle, Package } from '../../fbc/model.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { entryIn, placeOfEntry, placeOfPackage } from '../finding-location.ts';
import { endText, grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/stuck-v1',
  severity: 'error',
  summary: 'Under OLM v1 every bundle of a channel has an upgrade path to a channel head',
  foresee(world, report) {
    if (!world.olm.has('v1')) return;
    for (const ofPackage of checkedPackages(world)) {
      const stuck = stuckIn(world, ofPackage);
      for (const group of grouped(stuck, ({ path }) => path.end.name)) {
        const [first] = group;
        if (!first) continue;
        const channel = [...ofPackage.channels.values()].find((one) => entryIn(one, first.path.end.name));
        const entry = entryIn(channel, first.path.end.name);
        const location =
          channel && entry ? placeOfEntry(channel, entry.index) : placeOfPackage(world, ofPackage.name);
        if (!location) continue;
        const versions = versionsOf(group.map(({ bundle }) => bundle));
        const message = `under OLM v1 ${listed(versions)} of package ${quoted(ofPackage.name)} cannot reach a channel head: ${endText(first.path)}`;
        report(message, location, {
          package: ofPackage.name,
          ...(channel ? { channel: channel.name } : {}),
          installed: versions,
          hint: `add an entry with a higher version that replaces or skips ${first.path.end.name}`,
        });
      }
    }
  },
};

function stuckIn({ foresight }: World, ofPackage: Package): { bundle: Bundle; path: UpgradePath }[] {
  const listedNames = new Set(
    [...ofPackage.channels.values()].flatMap(({ entries }) => entries.map(({ name }) => name)),
  );
  return [...ofPackage.bundles.values()]
    .filter(({ name }) => listedNames.has(name))
    .map((bundle) => ({
      bundle,
      path: foresight.v1({ package: ofPackage.name, channels: [] }, installedOf(bundle)),
    }))
    .filter(({ path }) => !path.arrives && !isToldElsewhere(path));
}

/** Versions that sort wrongly, dependencies, and channels without heads have rules of their own. */
function isToldElsewhere({ last }: UpgradePath): boolean {
  return last.kind !== 'circle' && ['successor-lower', 'dependency'].includes(last.reason.code);
}
