import { shortName } from '../../fbc/edge.ts';
import { type Bundle, locate, type Package } from '../../fbc/model.ts';
import type { Location } from '../../finding.ts';
import { compareInstalled, publishedInstallations } from '../../olm/foresight/installation.ts';
import { type Hindrance, neighborPackages, nextHindrances } from '../../olm/foresight/neighbors.ts';
import type { World } from '../../olm/foresight/world.ts';
import { RequirementError } from '../../olm/resolve/requirement.ts';
import { readRequirements } from '../../olm/resolve/unreadable.ts';
import { entryIn, placeOfEntry, placeOfPackage } from '../finding-location.ts';
import { channelText, grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/blocked-by-neighbor',
  severity: 'warning',
  summary:
    'Reports upgrades that OLM v0 does not perform if another package of the catalog is installed in the same namespace',
  harm: { rank: 10, kind: 'some' },
  reads: ['history'],
  foresee(world, report) {
    if (!world.olm.has('v0')) return;
    for (const ofPackage of world.catalog.packages.values()) {
      const blocked = isAsked(world, ofPackage) ? blockedIn(world, ofPackage) : [];
      for (const group of grouped(blocked, keyOf)) {
        const [first] = group;
        const location = first && locationOf(world, ofPackage, first);
        if (!first || !location) continue;
        report(messageOf(ofPackage, group), location, {
          package: ofPackage.name,
          channel: first.channel,
          subject: JSON.stringify([first.neighbor.package, first.neighborRequires, first.requires]),
          installed: versionsOf(group.map(({ from }) => from)),
          hint: hintFor(ofPackage, first),
        });
      }
    }
  },
};

interface Blocked extends Hindrance {
  /** The channel of the subscription that is not upgraded. */
  readonly channel: string;
}

/** Whether somebody asks about the package, or about one that it has to do with. */
function isAsked({ packages, foresight }: World, { name }: Package): boolean {
  if (packages === undefined || packages.has(name)) return true;
  return [...neighborPackages(foresight.scope, name)].some((one) => packages.has(one));
}

function blockedIn(world: World, { name }: Package): Blocked[] {
  if (neighborPackages(world.foresight.scope, name).size === 0) return [];
  return publishedInstallations(world, name).flatMap(({ channel, installed }) => {
    // A hindrance further along the path is reported for the version before it.
    const hindrances = nextHindrances(world.foresight, { package: name, channel }, installed);
    return hindrances.map((one) => ({ ...one, channel }));
  });
}

function keyOf({ channel, neighbor, requires, neighborRequires, to }: Blocked): string {
  return JSON.stringify([channel, neighbor.package, requires, neighborRequires, to.name]);
}

function messageOf(ofPackage: Package, group: readonly Blocked[]): string {
  const [first] = group;
  if (!first) return '';
  const { to, neighbor, requires, neighborRequires } = first;
  const from = listed(versionsOf(group.map((one) => one.from)));
  const beside = [
    ...new Map(group.flatMap(({ installed }) => installed).map((one) => [one.name, one])).values(),
  ];
  const versions = listed(versionsOf(beside.sort(compareInstalled)));
  const channels = [...new Set(group.map((one) => one.neighbor.channel))];
  const where = `${neighbor.package} ${versions} of ${channels.length === 1 ? 'channel' : 'the channels'} ${listed(channels.map(quoted))}`;
  const why = neighborRequires
    ? `${neighbor.package} requires an operator ${requires}`
    : `${shortName(to)} requires an operator ${requires}, to which ${neighbor.package} has no upgrade there`;
  return `under OLM v0 ${from} of ${channelText(first.channel, ofPackage.name)} is upgraded to ${shortName(to)} unless ${where} is installed in the same namespace: ${why}`;
}

function hintFor({ name }: Package, { neighbor, to, neighborRequires }: Blocked): string {
  return neighborRequires
    ? `first publish a version of ${neighbor.package} that works with ${name} ${shortName(to)}, or keep an upgrade path in a channel of its own`
    : `add an upgrade path of ${neighbor.package} in channel ${quoted(neighbor.channel)} to a version that ${shortName(to)} works with`;
}

/** The entry of the upgrade where its package is checked, else the requirement that is in its way. */
function locationOf(world: World, ofPackage: Package, blocked: Blocked): Location | undefined {
  const { neighbor, to, neighborRequires, requires } = blocked;
  const checksOwn = world.packages?.has(ofPackage.name) ?? true;
  const channel = ofPackage.channels.get(blocked.channel);
  const entry = entryIn(channel, to.name);
  if (checksOwn && channel && entry) return placeOfEntry(channel, entry.index);
  const requiring = neighborRequires ? world.catalog.packages.get(neighbor.package) : ofPackage;
  const place = [...(requiring?.bundles.values() ?? [])].flatMap((bundle) =>
    requirementIn(world, bundle, requires),
  );
  return place[0] ?? placeOfPackage(world, neighbor.package);
}

function requirementIn({ foresight }: World, bundle: Bundle, text: string): Location[] {
  return readRequirements(foresight.scope, bundle.properties).flatMap(({ read, at }) =>
    read instanceof RequirementError || read.text !== text ? [] : [locate(bundle, 'properties', at)],
  );
}
