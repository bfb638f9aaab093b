import { installedOf, shortName, versionText } from '../../fbc/edge.ts';
import { checkedPackages, type World } from '../../olm/foresight/world.ts';
import { upgradeOf } from '../../olm/resolve/outcome.ts';
import { type LoweringEdge, loweringEdges } from '../downgrade.ts';
import { placeOfEntry } from '../finding-location.ts';
import { channelText, grouped, listed, versionsOf } from '../message-text.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/downgrade-edge',
  severity: 'error',
  summary: 'No upgrade edge goes from a newer version to an older one',
  foresee(world, report) {
    for (const ofPackage of checkedPackages(world)) {
      const edges = loweringEdges(ofPackage).filter(({ bySuffix }) => !bySuffix);
      for (const group of grouped(edges, ({ channel, entry, field }) =>
        JSON.stringify([channel.name, entry.index, field]),
      )) {
        const [first] = group;
        if (!first) continue;
        const { channel, entry, field, to } = first;
        const taken = group.filter((edge) => isTaken(world, edge));
        const versions = versionsOf((taken.length > 0 ? taken : group).map(({ from }) => from));
        const effect =
          taken.length > 0 ? `${listed(versions)} would be downgraded` : 'no cluster follows that edge today';
        const message = `${channelText(channel.name, ofPackage.name)}: ${field} of ${shortName(to)} covers newer versions (${listed(versions)}); ${effect}`;
        report(message, placeOfEntry(channel, entry.index, field), {
          package: ofPackage.name,
          channel: channel.name,
          subject: `${field} of ${to.name}`,
          installed: taken.length > 0 ? versions : [],
          severity: taken.length > 0 ? 'error' : 'warning',
          hint:
            field === 'skipRange'
              ? `end the range below the entry's own version: skipRange: '${belowOwn(entry.skipRange, versionText(to))}'`
              : `remove ${first.from.name} from ${field}`,
        });
      }
    }
  },
};

function belowOwn(range: string, version: string): string {
  return range.includes('||')
    ? `… <${version}`
    : `${range
        .replaceAll(/<=?\s*[^\s]+/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim()} <${version}`.trim();
}

/** Whether clusters go along an edge by themselves. */
function isTaken({ foresight, olm }: World, { channel, from, to }: LoweringEdge): boolean {
  const installed = installedOf(from);
  const v0 = foresight.v0({ package: from.package, channel: channel.name }, installed);
  const v1 = foresight.v1({ package: from.package, channels: [] }, installed);
  return (
    (olm.has('v0') && upgradeOf(v0.next)?.to.name === to.name) ||
    (olm.has('v1') && upgradeOf(v1.next)?.to.name === to.name)
  );
}
