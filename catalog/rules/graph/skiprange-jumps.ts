import { type Installed, shortName } from '../../fbc/edge.ts';
import type { Channel, Entry } from '../../fbc/model.ts';
import { stepsOf } from '../../olm/foresight/foresight.ts';
import { changesUnder, type InstallationChange } from '../../olm/foresight/installation-change.ts';
import { type Change, upgradePathOf, type World } from '../../olm/foresight/world.ts';
import { upgradeOf } from '../../olm/resolve/outcome.ts';
import { entryIn, placeOfEntry } from '../finding-location.ts';
import { channelText, grouped, listed, versionsOf } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/skiprange-jumps',
  severity: 'info',
  summary: 'Reports skipRanges that skip a version that every upgrade passed through',
  reads: ['catalogs', 'history'],
  compare(change, report) {
    const jumps = (['v0', 'v1'] as const).flatMap((olm) =>
      changesUnder(change, olm)
        .filter(({ channel }) => (channel === '') === (olm === 'v1'))
        .flatMap((move) => jumpOf(change, move) ?? []),
    );
    const key = ({ move, spot }: Jump): string =>
      JSON.stringify([move.package, spot.channel.name, spot.entry.name]);
    for (const group of grouped(jumps, key)) {
      const [first] = group;
      if (!first) continue;
      const { move, spot } = first;
      const from = versionsOf(group.map((jump) => jump.move.installed));
      const passed = versionsOf(group.flatMap((jump) => jump.passed));
      const olm = [...new Set(group.map((jump) => jump.move.olm))].join(' and ');
      const message = `${channelText(spot.channel.name, move.package)}: the skipRange ${quoted(spot.entry.skipRange)} of ${shortName(first.to)} upgrades ${listed(from)} without ${listed(passed)} under OLM ${olm}, which every upgrade passed through before`;
      report(message, placeOfEntry(spot.channel, spot.entry.index, 'skipRange'), {
        package: move.package,
        channel: spot.channel.name,
        installed: from,
        hint: `test the upgrade from ${from[0] ?? ''}, or end the range at ${passed.at(-1) ?? ''}`,
      });
    }
  },
};

interface Spot {
  readonly channel: Channel;
  readonly entry: Entry;
}

interface Jump {
  readonly move: InstallationChange;
  readonly to: Installed;
  readonly spot: Spot;
  /** The versions that were on the path and no longer are. */
  readonly passed: readonly Installed[];
}

function jumpOf(change: Change, move: InstallationChange): Jump | undefined {
  const { package: name, after } = move;
  const upgrade = upgradeOf(after.next);
  if (upgrade?.edge !== 'skipRange' || upgradeOf(move.before.next)?.to.name === upgrade.to.name)
    return undefined;
  const now = new Set(wayOf(change.after, move).map((one) => one.name));
  const bundles = change.after.catalog.packages.get(name)?.bundles;
  // The end of the way was nothing to pass through.
  const passed = wayOf(change.before, move)
    .slice(0, -1)
    .filter((one) => !now.has(one.name) && bundles?.has(one.name));
  const spot = spotOf(change.after, move, upgrade.to.name);
  return passed.length > 0 && spot ? { move, to: upgrade.to, spot, passed } : undefined;
}

/** The versions of an installation, one upgrade after the other. */
function wayOf(
  { foresight }: World,
  { package: name, olm, channel, installed }: InstallationChange,
): Installed[] {
  const following = { package: name, olm, channel };
  return stepsOf((at) => upgradePathOf(foresight, following, at), installed).flatMap(
    (outcome) => upgradeOf(outcome)?.to ?? [],
  );
}

/** The entry whose range leads there: in the subscribed channel, or else in the first that has one. */
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
