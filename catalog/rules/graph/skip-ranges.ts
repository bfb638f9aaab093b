import { type Installed, installedOf, shortName, versionText } from '../../fbc/edge.ts';
import type { Channel, Entry } from '../../fbc/model.ts';
import { groupedBy } from '../../go/grouped.ts';
import { onceFor } from '../../go/once.ts';
import { stepsOf } from '../../olm/foresight/foresight.ts';
import { type Installation, installationsOf } from '../../olm/foresight/installation.ts';
import { changesUnder, type InstallationChange } from '../../olm/foresight/installation-change.ts';
import { type Change, type Following, upgradePathOf, type World } from '../../olm/foresight/world.ts';
import { upgradeOf } from '../../olm/resolve/outcome.ts';
import { highestIn, satisfies } from '../../version/satisfies.ts';
import { compareVersions, formatVersion, type Version, type VersionRange } from '../../version/version.ts';
import { entryIn, placeOfEntry } from '../finding-location.ts';
import { channelText, grouped, listed, versionsOf } from '../message-text.ts';
import { bundleWithVersion, isOpen, type RangedChannel, rangedChannels, type Versioned } from '../ranges.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/skiprange-covers-itself',
    severity: 'warning',
    summary: 'Reports skipRanges that do not end below the version of their entry',
    checkWorld(world, report) {
      // OLM v1 takes the highest successor, whatever its own range says of it.
      if (!world.olm.has('v0')) return;
      for (const { channel, entry, range, bundle } of rangedChannels(world).flatMap(({ ranged }) => ranged)) {
        // A range without an upper end is reported by another rule.
        if (isOpen(range) || !satisfies(bundle.version, range)) continue;
        const message = `${channelText(channel.name, channel.package)}: the skipRange ${quoted(range.text)} of ${shortName(bundle)} covers ${shortName(bundle)} itself, so OLM v0 never offers some of its successors`;
        const hint = `end the range below the entry's own version: <${versionText(bundle)}`;
        const location = placeOfEntry(channel, entry.index, 'skipRange');
        report(message, location, {
          package: channel.package,
          channel: channel.name,
          subject: bundle.name,
          hint,
        });
      }
    },
  },
  {
    id: 'graph/skiprange-covers-nothing',
    severity: 'info',
    summary: 'Reports skipRanges that cover no published version',
    fix: 'use a range that covers published versions, for example ">=1.0.0 <1.1.0"',
    reads: ['history'],
    checkWorld(world, report) {
      for (const { ofPackage, channel, ranged } of rangedChannels(world)) {
        const isCovered = coverOf(installationsOf(world, ofPackage.name));
        // A first release has nothing to cover yet.
        if (!isCovered) continue;
        for (const { entry, range, bundle } of ranged) {
          if (isCovered(range, entry.name)) continue;
          const message = `${channelText(channel.name, channel.package)}: the skipRange ${quoted(range.text)} of ${shortName(bundle)} covers no known published version`;
          const location = placeOfEntry(channel, entry.index, 'skipRange');
          report(message, location, {
            package: channel.package,
            channel: channel.name,
            subject: bundle.name,
          });
        }
      }
    },
  },
  {
    id: 'graph/skiprange-gap',
    severity: 'warning',
    summary: "Reports versions of a channel between an entry's skipRange and what the entry replaces",
    checkWorld(world, report) {
      for (const channel of rangedChannels(world)) {
        const stuck = stuckIn(world, channel);
        if (stuck.length === 0) continue;
        const ascending = versionsIn(channel)
          .map(({ version }) => version)
          .sort(compareVersions);
        for (const ranged of channel.ranged) {
          const replaced = bundleWithVersion(channel.ofPackage, ranged.entry.replaces);
          const highest = replaced && highestIn(ascending, ranged.range);
          if (!highest || compareVersions(highest, replaced.version) >= 0) continue;
          const versions = versionsOf(stuck.filter(isBetween(highest, replaced.version)));
          if (versions.length === 0) continue;
          const { entry, range, bundle } = ranged;
          const message = `${channelText(ranged.channel.name, ranged.channel.package)}: ${listed(versions)} ${versions.length === 1 ? 'lies' : 'lie'} between the skipRange ${quoted(range.text)} of ${shortName(bundle)} and what it replaces, without an upgrade path`;
          report(message, placeOfEntry(ranged.channel, entry.index, 'skipRange'), {
            package: ranged.channel.package,
            channel: ranged.channel.name,
            installed: versions,
            hint: `end the range at the version of ${entry.replaces}`,
          });
        }
      }
    },
  },
  {
    id: 'graph/skiprange-misses-prerelease',
    severity: 'warning',
    summary: 'Reports skipRanges that start at a version but do not cover its pre-releases',
    reads: ['history'],
    checkWorld(world, report) {
      for (const ranged of rangedChannels(world)) {
        const stuck = stuckPrereleases(world, ranged);
        for (const { channel, entry, range, bundle } of stuck.size > 0 ? ranged.ranged : []) {
          const starts = startsOf(range);
          const [start] = starts;
          if (!start) continue;
          const missed = [...new Set(starts.map(releaseText))].flatMap((release) => stuck.get(release) ?? []);
          const uncovered = missed.filter(({ version }) => !satisfies(version, range));
          if (uncovered.length === 0) continue;
          const versions = versionsOf(uncovered);
          const message = `${channelText(channel.name, channel.package)}: the skipRange ${quoted(range.text)} of ${shortName(bundle)} starts above ${listed(versions)}, because pre-releases are lower than their release`;
          report(message, placeOfEntry(channel, entry.index, 'skipRange'), {
            package: channel.package,
            channel: channel.name,
            installed: versions,
            hint: `start the range with >=${formatVersion(start)}-0`,
          });
        }
      }
    },
  },
  {
    id: 'graph/skiprange-unbounded',
    severity: 'warning',
    summary: 'Reports skipRanges without an upper bound, which cover all future versions',
    checkWorld(world, report) {
      for (const { channel, entry, range, bundle } of rangedChannels(world).flatMap(({ ranged }) => ranged)) {
        if (!isOpen(range)) continue;
        const message = `${channelText(channel.name, channel.package)}: the skipRange ${quoted(range.text)} of ${shortName(bundle)} has no upper bound, so newer versions would be downgraded to it`;
        const bounded = `${range.text} <${versionText(bundle)}`;
        // A bound behind the range would end its last alternative alone.
        const isOne = !range.text.includes('||');
        const location = placeOfEntry(channel, entry.index, 'skipRange');
        report(message, location, {
          package: channel.package,
          channel: channel.name,
          subject: bundle.name,
          hint: `skipRange: '${isOne ? bounded : `… <${versionText(bundle)}`}'`,
          ...(isOne
            ? { correction: { kind: 'replace', location, found: entry.skipRange, wanted: bounded } }
            : {}),
        });
      }
    },
  },
  {
    id: 'graph/skiprange-jumps',
    severity: 'info',
    summary: 'Reports skipRanges that skip a version that every upgrade passed through',
    reads: ['catalogs', 'history'],
    compare(change, report) {
      const jumps = (['v0', 'v1'] as const).flatMap((olm) =>
        changesUnder(change, olm)
          // The usual choices: a subscription names a channel, an extension none.
          .filter(({ channel }) => (channel === '') === (olm === 'v1'))
          .flatMap((move) => jumpOf(move) ?? []),
      );
      const together = grouped(jumps, ({ move, to }) =>
        JSON.stringify([move.package, move.olm, move.channel, to.name]),
      ).flatMap((ones) => jumpsOver(change, ones) ?? []);
      const key = ({ moves: [move], spot }: Jumps): string =>
        JSON.stringify([move?.package, spot.channel.name, spot.entry.name]);
      for (const group of grouped(together, key)) {
        const [first] = group;
        const [move] = first?.moves ?? [];
        if (!first || !move) continue;
        const { spot } = first;
        const from = versionsOf(group.flatMap(({ moves }) => moves.map(({ installed }) => installed)));
        const passed = versionsOf(group.flatMap((jump) => jump.passed));
        const olm = [...new Set(group.flatMap(({ moves }) => moves.map((one) => one.olm)))].join(' and ');
        const message = `${channelText(spot.channel.name, move.package)}: the skipRange ${quoted(spot.entry.skipRange)} of ${shortName(first.to)} upgrades ${listed(from)} without ${listed(passed)} under OLM ${olm}, which every upgrade passed through before`;
        report(message, placeOfEntry(spot.channel, spot.entry.index, 'skipRange'), {
          package: move.package,
          channel: spot.channel.name,
          installed: from,
          hint: `test the upgrade from ${from[0] ?? ''}, or end the range at ${passed.at(-1) ?? ''}`,
        });
      }
    },
  },
];

function versionsIn({ ofPackage, channel }: RangedChannel): Versioned[] {
  return channel.entries.flatMap(({ name }) => bundleWithVersion(ofPackage, name) ?? []);
}

/** Who follows a channel: subscriptions, or where no cluster has OLM v0, extensions that select it. */
function followingOf({ olm }: World, { ofPackage, channel }: RangedChannel): Following {
  return {
    package: ofPackage.name,
    channel: channel.name,
    olm: olm.has('v0') ? 'v0' : 'v1',
    onlyChannel: true,
  };
}

/** The bundles of a channel from which nothing goes on, although they are not its head. */
function stuckIn(world: World, channel: RangedChannel): Versioned[] {
  const following = followingOf(world, channel);
  return versionsIn(channel).filter((bundle) => {
    const { next, arrives } = upgradePathOf(world.foresight, following, installedOf(bundle));
    return next.kind !== 'upgrade' && !arrives;
  });
}

function isBetween(low: Version, high: Version): (one: Versioned) => boolean {
  return ({ version }) => compareVersions(version, low) > 0 && compareVersions(version, high) < 0;
}

interface Prerelease extends Installed {
  readonly version: Version;
}

/** The pre-releases of a channel that reach no head, by their releases. */
function stuckPrereleases(world: World, ranged: RangedChannel): Map<string, Prerelease[]> {
  const { ofPackage, channel } = ranged;
  const following = followingOf(world, ranged);
  const stuck = installationsOf(world, ofPackage.name).flatMap(({ channel: channelName, installed }) => {
    const { name, version } = installed;
    if (channelName !== channel.name || version === undefined || version.prerelease.length === 0) return [];
    return upgradePathOf(world.foresight, following, installed).arrives ? [] : [{ name, version }];
  });
  return groupedBy(stuck, ({ version }) => releaseText(version));
}

/** The released versions with which a range begins. */
function startsOf({ alternatives }: VersionRange): Version[] {
  return alternatives
    .flat()
    .filter(({ operator, version }) => operator === '>=' && version.prerelease.length === 0)
    .map(({ version }) => version);
}

function releaseText({ major, minor, patch }: Version): string {
  return `${major}.${minor}.${patch}`;
}

interface Spot {
  readonly channel: Channel;
  readonly entry: Entry;
}

/** An upgrade that is new by a skipRange. */
interface Jump {
  readonly move: InstallationChange;
  readonly to: Installed;
}

/** Such upgrades to one version, and what they pass over. */
interface Jumps {
  readonly moves: readonly InstallationChange[];
  readonly to: Installed;
  readonly spot: Spot;
  /** The versions that were on the path of any and no longer are. */
  readonly passed: readonly Installed[];
}

/** An upgrade that an installation newly makes by a skipRange; undefined if it makes none. */
function jumpOf(move: InstallationChange): Jump | undefined {
  const upgrade = upgradeOf(move.after.next);
  return upgrade?.edge !== 'skipRange' || upgradeOf(move.before.next)?.to.name === upgrade.to.name
    ? undefined
    : { move, to: upgrade.to };
}

/**
 * Which of some upgrades to one version pass over bundles that clusters went through before; undefined for none. All of
 * them go on alike, and each bundle of the paths before is looked at once: they have the square of a chain together.
 */
function jumpsOver(change: Change, jumps: readonly Jump[]): Jumps | undefined {
  const [jump] = jumps;
  if (!jump) return undefined;
  const { move: example, to } = jump;
  const following = { package: example.package, olm: example.olm, channel: example.channel };
  const now = new Set(wayOf(change.after, example).map(({ name }) => name));
  const bundles = change.after.catalog.packages.get(example.package)?.bundles;
  const nextBefore = (at: Installed): Installed | undefined =>
    upgradeOf(upgradePathOf(change.before.foresight, following, at).next)?.to;
  // The end of the way was nothing to pass through.
  const isPassed = (one: Installed): boolean =>
    !now.has(one.name) && bundles?.has(one.name) === true && nextBefore(one) !== undefined;
  const passed: Installed[] = [];
  /** By a bundle's name: whether it or one behind it is passed over. */
  const known = new Map<string, boolean>();
  const passes = (from: Installed | undefined): boolean => {
    const walked = new Map<string, Installed>();
    let at = from;
    for (; at && !known.has(at.name) && !walked.has(at.name); at = nextBefore(at)) walked.set(at.name, at);
    const circle = at ? [...walked.keys()].indexOf(at.name) : -1;
    // Around a circle, each is behind each.
    let isAny =
      circle < 0 ? known.get(at?.name ?? '') === true : [...walked.values()].slice(circle).some(isPassed);
    for (const one of [...walked.values()].reverse()) {
      if (isPassed(one)) {
        passed.push(one);
        isAny = true;
      }
      known.set(one.name, isAny);
    }
    return known.get(from?.name ?? '') === true;
  };
  const moves = jumps.map(({ move }) => move).filter(({ installed }) => passes(nextBefore(installed)));
  const spot = spotOf(change.after, example, to.name);
  return moves.length > 0 && spot ? { moves, to, spot, passed } : undefined;
}

/** The bundles that follow an installation on its upgrade path, one upgrade after the other. */
function wayOf(
  { foresight }: World,
  { package: name, olm, channel, installed }: InstallationChange,
): Installed[] {
  const following = { package: name, olm, channel };
  return stepsOf((at) => upgradePathOf(foresight, following, at), installed).flatMap(
    (outcome) => upgradeOf(outcome)?.to ?? [],
  );
}

/** The entry whose range makes the upgrade: in the subscribed channel, or else in the first that has one. */
function spotOf(
  { catalog }: World,
  { package: name, channel }: InstallationChange,
  to: string,
): Spot | undefined {
  const channels = [...(catalog.packages.get(name)?.channels.values() ?? [])];
  const spots = channels.flatMap((one) => {
    const entry = entryIn(one, to);
    return entry && entry.skipRange !== '' ? [{ channel: one, entry }] : [];
  });
  return spots.find((spot) => spot.channel.name === channel) ?? spots[0];
}

/**
 * Tells whether a range covers a version that was published under another name, by bisection; undefined where only one name
 * was. Made once for all channels of a package, each of which asks for the same installations.
 */
const coverOf = onceFor((all: readonly Installation[]): Cover | undefined => {
  const installations = all.map(({ installed }) => installed);
  if (new Set(installations.map(({ name }) => name)).size < 2) return undefined;
  const byVersion = groupedBy(installations, ({ version }) => (version ? formatVersion(version) : ''));
  const ascending = [...byVersion.values()].flatMap(([one]) => one?.version ?? []).sort(compareVersions);
  const isOthers = (version: Version, own: string): boolean =>
    byVersion.get(formatVersion(version))?.some(({ name }) => name !== own) === true;
  return (range, own) => {
    const highest = highestIn(ascending, range);
    if (!highest || isOthers(highest, own)) return highest !== undefined;
    // The highest may be the entry's own version alone; then any lower one counts.
    return highestIn(ascending.slice(0, ascending.indexOf(highest)), range) !== undefined;
  };
});

type Cover = (range: VersionRange, own: string) => boolean;
