import { headsOf } from '../../fbc/channel.ts';
import { type Installed, installedOf, shortName } from '../../fbc/edge.ts';
import { type Bundle, locate, type Package } from '../../fbc/model.ts';
import type { Location } from '../../finding.ts';
import { onceFor } from '../../go/once.ts';
import {
  compareInstalled,
  installationsOf,
  publishedInstallations,
} from '../../olm/foresight/installation.ts';
import { type Hindrance, neighborPackages, nextHindrances } from '../../olm/foresight/neighbors.ts';
import type { Change, World } from '../../olm/foresight/world.ts';
import { isMet, packageMeets } from '../../olm/resolve/provider.ts';
import { type Requirement, RequirementError } from '../../olm/resolve/requirement.ts';
import { readRequirements, requiringBundles } from '../../olm/resolve/unreadable.ts';
import { entryIn, placeOfEntry, placeOfPackage } from '../finding-location.ts';
import { channelText, grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/blocked-by-neighbor',
    severity: 'warning',
    summary:
      'Reports upgrades that OLM v0 does not perform if another package of the catalog is installed in the same namespace',
    harm: { rank: 10, kind: 'some' },
    reads: ['history'],
    checkWorld(world, report) {
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
  },
  {
    id: 'graph/strands-dependents',
    severity: 'error',
    summary: 'Reports changes that make dependencies of other packages unavailable under OLM v0',
    reads: ['catalogs', 'history'],
    compare(change, report) {
      if (!change.after.olm.has('v0')) return;
      const touched = change.packages.flatMap((name) => change.before.catalog.packages.get(name) ?? []);
      const providersOf = onceFor((requirement: Requirement) =>
        touched.filter((one) => packageMeets(one, requirement)),
      );
      for (const dependent of change.after.catalog.packages.values()) {
        const losses = lossesOf(change, dependent, providersOf);
        for (const group of grouped(losses, ({ requirement }) => requirement.text))
          reportLosses(change, dependent, { group, report });
      }
    },
  },
];

interface Blocked extends Hindrance {
  /** The channel of the subscription that is not upgraded. */
  readonly channel: string;
}

/** Whether somebody asks about the package, or about one that it has to do with. */
function isAsked({ packages, foresight }: World, { name }: Package): boolean {
  if (packages === undefined || packages.has(name)) return true;
  return [...neighborPackages(foresight.scope, name)].some((one) => packages.has(one));
}

/** The installations of a package whose next upgrade another package hinders. */
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

/** The message about upgrades that a neighbor in the same namespace blocks for the same reason. */
function messageOf(ofPackage: Package, group: readonly Blocked[]): string {
  const [first] = group;
  if (!first) return '';
  const { to, neighbor, requires, neighborRequires } = first;
  const from = listed(versionsOf(group.map((one) => one.from)));
  const neighborBundles = [
    ...new Map(group.flatMap(({ installed }) => installed).map((one) => [one.name, one])).values(),
  ];
  const versions = listed(versionsOf(neighborBundles.sort(compareInstalled)));
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

/** The places of the properties that state a requirement. */
function requirementIn({ foresight }: World, bundle: Bundle, text: string): Location[] {
  return readRequirements(foresight.scope, bundle.properties).flatMap(({ read, at }) =>
    read instanceof RequirementError || read.text !== text ? [] : [locate(bundle, 'properties', at)],
  );
}

/** A bundle whose requirement was satisfied before the change, and is not any more. */
interface Loss {
  readonly bundle: Bundle;
  readonly requirement: Requirement;
  /** The package that satisfied it. */
  readonly provider: string;
}

/**
 * The bundles of a package whose requirement nothing satisfies after the change.
 *
 * @param providersOf the packages that change and satisfied a requirement before
 */
function lossesOf(
  { before, after }: Change,
  dependent: Package,
  providersOf: (requirement: Requirement) => readonly Package[],
): Loss[] {
  const was = before.catalog.packages.get(dependent.name);
  return [...requiringBundles(dependent)].flatMap((bundle) => {
    if (!was?.bundles.has(bundle.name)) return [];
    return requirementsIn(bundle, after).flatMap((requirement) => {
      if (isMet(after.foresight.scope, requirement)) return [];
      const provider = providersOf(requirement).find(({ name }) => name !== dependent.name);
      return provider ? [{ bundle, requirement, provider: provider.name }] : [];
    });
  });
}

/** The requirements of a bundle. Another rule reports those that cannot be parsed. */
function requirementsIn({ properties }: Bundle, { foresight }: World): Requirement[] {
  return readRequirements(foresight.scope, properties).flatMap(({ read }) =>
    read instanceof RequirementError ? [] : [read],
  );
}

type Sides = Pick<Change, 'before' | 'after'>;

/** Reports bundles whose requirement nothing provides any more: an error if clusters get one of them. */
function reportLosses(
  { before, after }: Sides,
  dependent: Package,
  { group, report }: { readonly group: readonly Loss[]; readonly report: Report },
): void {
  const [first] = group;
  if (!first) return;
  const { provider, requirement } = first;
  const location = placeOfPackage(after, provider) ?? placeOfPackage(before, provider);
  if (!location) return;
  const bundles = group.map(({ bundle }) => bundle);
  const versions = versionsOf(bundles.map(installedOf));
  const isNeeded = bundles.some((bundle) => isMissed({ before, after }, dependent, bundle));
  const one = versions.length === 1;
  const where = after.hasCompanions ? 'no catalog of the clusters' : 'nothing in this catalog';
  const message = `package ${quoted(dependent.name)}: ${listed(versions)} ${one ? 'requires' : 'require'} an operator ${requirement.text}, which package ${quoted(provider)} provided before and ${where} provides now: OLM v0 cannot install ${one ? 'it' : 'them'} and skips upgrades to ${one ? 'it' : 'them'} without an error`;
  report(message, location, {
    package: provider,
    subject: `${dependent.name} ${requirement.text}`,
    severity: isNeeded ? 'error' : 'warning',
    hint: `keep the dependency in package ${quoted(provider)} until ${quoted(dependent.name)} no longer requires it`,
  });
}

/** Whether clusters miss a bundle that they no longer can install: as the head of a channel, or as their only next step. */
function isMissed({ before, after }: Sides, { name, channels }: Package, bundle: Bundle): boolean {
  if ([...channels.values()].some((channel) => headsOf(channel).some((head) => head.name === bundle.name)))
    return true;
  return installationsOf(before, name).some(({ channel, installed }) => {
    const place = { package: name, channel };
    const isLost = after.foresight.v0(place, installed).next.kind !== 'upgrade';
    return isLost && leadsTo(before, place, { installed, bundle });
  });
}

/** Whether OLM v0 would upgrade what is installed to this bundle next. */
function leadsTo(
  { foresight }: World,
  place: { readonly package: string; readonly channel: string },
  { installed, bundle }: { readonly installed: Installed; readonly bundle: Bundle },
): boolean {
  const { next } = foresight.v0(place, installed);
  return next.kind === 'upgrade' && next.to.name === bundle.name;
}
