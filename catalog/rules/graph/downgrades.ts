import { type Installed, installedOf, shortName, versionText } from '../../fbc/edge.ts';
import type { Bundle, Channel, Package } from '../../fbc/model.ts';
import { isHeldBack } from '../../fbc/openshift.ts';
import { appendToGroup } from '../../go/grouped.ts';
import type { UpgradePath } from '../../olm/foresight/foresight.ts';
import {
  type Installation,
  publishedInstallations,
  withoutChannels,
} from '../../olm/foresight/installation.ts';
import { changesUnder, eachOnce, type InstallationChange } from '../../olm/foresight/installation-change.ts';
import {
  type Change,
  checkedPackages,
  type Following,
  lowestEndOf,
  upgradePathOf,
  type World,
} from '../../olm/foresight/world.ts';
import { type Upgrade, upgradeOf } from '../../olm/resolve/outcome.ts';
import type { Version } from '../../version/version.ts';
import { type LoweringField, lowering, loweringFields } from '../downgrade.ts';
import { channelIn, entryIn, placeOfEntry, placeOfHead, placeOfPackage } from '../finding-location.ts';
import { channelText, grouped, listed, MOST_LISTED, versionsOf } from '../message-text.ts';
import { stepsOf } from '../platform-losses.ts';
import { quoted, type Report, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/automatic-downgrade',
    severity: 'error',
    summary: 'Reports changes that downgrade installations',
    harm: { rank: 5, kind: 'change' },
    reads: ['catalogs', 'history'],
    compare(change, report) {
      for (const olm of ['v0', 'v1'] as const) {
        const down = changesUnder(change, olm).filter(
          ({ installed, before, after }) =>
            before.next.kind !== 'fails' &&
            goesDown(after, installed.version) &&
            !goesDown(before, installed.version),
        );
        const groups = grouped(eachOnce(down), ({ package: name, channel, after }) =>
          JSON.stringify([name, channel, upgradeOf(after.next)?.to.name]),
        );
        for (const group of groups) reportGroup(change, group, report);
      }
    },
  },
  {
    id: 'graph/downgrade-edge',
    severity: 'error',
    summary: 'Reports upgrade edges from a newer version to an older one',
    checkWorld(world, report) {
      for (const ofPackage of checkedPackages(world)) {
        for (const channel of ofPackage.channels.values()) {
          const fields = loweringFields(ofPackage, channel, MOST_LISTED);
          const takers = fields.length > 0 ? takersIn(world, ofPackage, channel) : NOBODY;
          for (const field of fields) reportField(field, takers, report);
        }
      }
    },
  },
  {
    id: 'graph/downgrade-on-platform-upgrade',
    severity: 'error',
    summary:
      'Reports installed versions that are downgraded when clusters upgrade to the next platform versions',
    reads: ['catalogs', 'history'],
    comparisonTellsNews: true,
    checkWorld(world, report) {
      const all = checkedPackages(world).flatMap(({ name }) => [...downgradesIn(world, name).values()]);
      reportDowngrades(all, { world, report, severity: 'warning' });
    },
    compare({ before, after, packages }, report) {
      for (const name of packages) {
        const now = downgradesIn(after, name);
        if (now.size === 0) continue;
        const was = downgradesIn(before, name);
        // A cluster that got an error before is not worse off.
        const had = new Set(
          installationsIn(before, name)
            .filter((one) => upgradePathOf(before.foresight, one, one.installed).last.kind !== 'fails')
            .map(installationKey),
        );
        const fresh = [...now].filter(([key, { depth }]) => depth > (was.get(key)?.depth ?? 0));
        // What can be installed only after the merge is on no cluster yet; what leads there is reported by itself.
        const downgrades = fresh.map(([, downgrade]) => downgrade);
        const present = downgrades.filter((one) => had.has(installationKey(one)));
        const later = downgrades.filter((one) => !had.has(installationKey(one)));
        const reportedPairs = new Set(present.map(({ end, to }) => JSON.stringify([end.name, to.name])));
        const others = later.filter(
          ({ end, to, channel }) =>
            !reportedPairs.has(JSON.stringify([end.name, to.name])) && !hasChannel(before, name, channel),
        );
        reportDowngrades(present, { world: after, report, severity: 'error' });
        reportDowngrades(others, { world: after, report, severity: 'warning' });
      }
    },
  },
];

/** Whether the next version is lower; a suffix that sorts below is another rule's matter. */
function goesDown({ next }: UpgradePath, from: Version | undefined): boolean {
  return next.kind === 'upgrade' && lowering(from, next.to.version) === 2;
}

/** Reports installations that one upgrade would downgrade. */
function reportGroup(change: Change, group: readonly InstallationChange[], report: Report): void {
  const [first] = group;
  const upgrade = first && upgradeOf(first.after.next);
  if (!upgrade) return;
  const { package: name, olm } = first;
  const { to, edge } = upgrade;
  const channels = [...(change.after.catalog.packages.get(name)?.channels.values() ?? [])];
  const channel =
    channelIn(change.after, name, first.channel) ?? channels.find((one) => entryIn(one, to.name));
  const entry = entryIn(channel, to.name);
  const location =
    channel && entry ? placeOfEntry(channel, entry.index, edge) : placeOfPackage(change.after, name);
  if (!location) return;
  const versions = versionsOf(group.map(({ installed }) => installed));
  const message = `under OLM ${olm} ${listed(versions)} of package ${quoted(name)} would be downgraded to ${shortName(to)} automatically: its ${edge} covers newer versions`;
  report(message, location, {
    package: name,
    ...(channel ? { channel: channel.name } : {}),
    installed: versions,
    hint:
      edge === 'skipRange'
        ? `end the range below ${versionText(to)}: skipRange: '… <${versionText(to)}'`
        : `remove the newer version from ${edge}, or keep its entry`,
  });
}

/** Bundles of a channel by the name of their automatic upgrade. */
type Takers = ReadonlyMap<string, readonly Bundle[]>;

const NOBODY: Takers = new Map();

/** Reports a field that follows newer versions: an error if a cluster would follow it. */
function reportField(lowerings: LoweringField, takers: Takers, report: Report): void {
  const { channel, entry, field, to, count, lowest, includes } = lowerings;
  const taken = versionsOf((takers.get(to.name) ?? []).filter(includes));
  const isTaken = taken.length > 0;
  const newer = isTaken ? listed(taken) : listed(versionsOf(lowest), count);
  const effect = isTaken ? `${newer} would be downgraded` : 'no cluster follows that edge today';
  const message = `${channelText(channel.name, channel.package)}: ${field} of ${shortName(to)} covers newer versions (${newer}); ${effect}`;
  report(message, placeOfEntry(channel, entry.index, field), {
    package: channel.package,
    channel: channel.name,
    subject: `${field} of ${to.name}`,
    installed: taken,
    severity: isTaken ? 'error' : 'warning',
    hint:
      field === 'skipRange'
        ? `end the range below the entry's own version: skipRange: '${belowOwn(entry.skipRange, versionText(to))}'`
        : `remove ${lowest[0]?.name ?? ''} from ${field}`,
  });
}

/**
 * A range without its upper bounds, ended below the own version: `>=1.0.0 <2.0.0` of 1.5.0 becomes `>=1.0.0 <1.5.0`. One
 * with alternatives is only hinted at: each would need its own bound.
 */
function belowOwn(range: string, version: string): string {
  return range.includes('||')
    ? `… <${version}`
    : `${range
        .replaceAll(/<=?\s*[^\s]+/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim()} <${version}`.trim();
}

/** By name of a bundle, the bundles of a channel that OLM would upgrade to it. */
function takersIn({ foresight, olm }: World, ofPackage: Package, channel: Channel): Takers {
  const takers = new Map<string, Bundle[]>();
  for (const { name } of channel.entries) {
    const from = ofPackage.bundles.get(name);
    if (!from) continue;
    const installed = installedOf(from);
    const v0 = foresight.v0({ package: ofPackage.name, channel: channel.name }, installed);
    const v1 = foresight.v1({ package: ofPackage.name, channels: [] }, installed);
    const next = new Set([
      ...(olm.has('v0') ? [upgradeOf(v0.next)?.to.name] : []),
      ...(olm.has('v1') ? [upgradeOf(v1.next)?.to.name] : []),
    ]);
    for (const to of next) {
      if (to !== undefined) appendToGroup(takers, to, from);
    }
  }
  return takers;
}

/** An installation, with the upgrades that it follows. */
type Place = Following & Pick<Installation, 'installed'>;

/** An installation that is downgraded when its cluster goes to another catalog. */
interface Downgrade extends Place {
  readonly to: World;
  /** The installed version before the platform upgrade: the end of the upgrade path. */
  readonly end: Installed;
  readonly upgrade: Upgrade;
  /** How far the version goes down, see `lowering`. */
  readonly depth: 1 | 2;
}

function installationKey({ olm, channel, installed }: Place): string {
  return JSON.stringify([olm, channel, installed.name]);
}

function hasChannel({ catalog }: World, name: string, channel: string): boolean {
  const ofPackage = catalog.packages.get(name);
  return channel === '' ? ofPackage !== undefined : (ofPackage?.channels.has(channel) ?? false);
}

/** Versions that clusters may have, with and without a channel: under OLM v1 most extensions select none. */
function installationsIn(world: World, name: string): Place[] {
  const all = publishedInstallations(world, name);
  const inNone = withoutChannels(all).map((installed) => ({ channel: '', installed }));
  return [...world.olm].flatMap((olm) =>
    (olm === 'v0' ? [...all, ...inNone] : inNone).map(
      ({ channel, installed }): Place => ({ olm, package: name, channel, installed }),
    ),
  );
}

/** The installations that are downgraded at the next platform version, or at one that clusters skip to. */
function downgradesIn(world: World, name: string): Map<string, Downgrade> {
  const steps = stepsOf(world).filter((to) => to.catalog.packages.has(name));
  if (steps.length === 0) return new Map();
  const bundles = world.catalog.packages.get(name)?.bundles;
  const found = new Map<string, Downgrade>();
  for (const place of installationsIn(world, name)) {
    const end = lowestEndOf(world.foresight, place, place.installed);
    const bundle = bundles?.get(end.name);
    for (const to of steps) {
      if (bundle && isHeldBack(bundle, to.platform)) continue;
      const upgrade = upgradeOf(upgradePathOf(to.foresight, place, end).next);
      const depth = lowering(end.version, upgrade?.to.version);
      const key = JSON.stringify([installationKey(place), to.name]);
      if (upgrade && depth !== 0) found.set(key, { ...place, to, end, upgrade, depth });
    }
  }
  return found;
}

interface DowngradeReport {
  readonly world: World;
  readonly report: Report;
  readonly severity: 'warning' | 'error';
}

/** Tells of downgrades: those of a package to one bundle of one catalog are one finding. */
function reportDowngrades(
  downgrades: readonly Downgrade[],
  { world, report, severity }: DowngradeReport,
): void {
  const key = ({ package: name, to, upgrade, depth }: Downgrade): string =>
    JSON.stringify([name, to.name, upgrade.to.name, upgrade.edge, depth]);
  for (const group of grouped(downgrades, key)) {
    const [first] = group;
    if (!first) continue;
    const { package: name, to, upgrade, depth } = first;
    const channels = [...new Set(group.flatMap((one) => (one.channel === '' ? [] : [one.channel])))];
    const channel = channelIn(world, name, channels[0] ?? '');
    const location = channel ? placeOfHead(channel) : placeOfPackage(world, name);
    // Another rule reports that the package is gone.
    if (!location) continue;
    const versions = versionsOf(group.map(({ end }) => end));
    const olm = [...new Set(group.map((one) => `OLM ${one.olm}`))].sort();
    const message = `when clusters upgrade from ${world.name} to ${to.name}, ${listed(versions)} of package ${quoted(name)} would be downgraded to ${shortName(upgrade.to)} under ${listed(olm)}: its ${upgrade.edge} there covers newer versions`;
    report(message, location, {
      package: name,
      // What a policy allows in one channel it does not allow in the others.
      ...(channel && channels.length === 1 ? { channel: channel.name } : {}),
      subject: `${to.name} ${upgrade.to.name}`,
      installed: versions,
      severity: depth === 2 ? severity : 'warning',
      hint: `publish ${versions.at(-1)} or a higher version than ${versionText(upgrade.to)} in ${to.name} as well, or set olm.maxOpenShiftVersion so that clusters do not upgrade yet`,
    });
  }
}
