import { installedOf, shortName } from '../../fbc/edge.ts';
import type { Bundle, Channel, Entry, Package } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { placeOfEntry, placeOfHead } from '../finding-location.ts';
import { channelText, listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'graph/edge-from-absent',
    severity: 'info',
    summary:
      'Reports upgrade edges from bundles that the package no longer has, which help clusters that still have them',
    fix: 'nothing to do if the edges are for clusters that still have the old bundles',
    checkWorld(world, report) {
      for (const { name, channels, bundles } of checkedPackages(world)) {
        for (const channel of channels.values()) {
          const absent = channel.entries.flatMap(({ replaces, skips, index }) =>
            [replaces, ...skips]
              .filter((from) => from !== '' && !bundles.has(from))
              .map((from) => ({ from, index, field: from === replaces ? 'replaces' : 'skips' })),
          );
          const [first] = absent;
          if (!first) continue;
          const names = [...new Set(absent.map(({ from }) => from))];
          const message = `${channelText(channel.name, name)} has edges from ${listed(names)}, which the package does not have`;
          const location = placeOfEntry(channel, first.index, first.field);
          report(message, location, { package: name, channel: channel.name, installed: names });
        }
      }
    },
  },
  {
    id: 'graph/edge-from-other-channel',
    severity: 'info',
    summary: 'Reports upgrade edges from entries of another channel, which help users who switch',
    fix: 'nothing to do if the edges are for users who switch channels',
    checkWorld(world, report) {
      for (const { name, channels, bundles } of checkedPackages(world)) {
        for (const channel of channels.values()) {
          const present = new Set(channel.entries.map((entry) => entry.name));
          const foreign = channel.entries.flatMap(({ replaces, skips, index }) =>
            [replaces, ...skips]
              .filter((from) => bundles.has(from) && !present.has(from))
              .map((from) => ({ from, index, field: from === replaces ? 'replaces' : 'skips' })),
          );
          const [first] = foreign;
          if (!first) continue;
          const names = [...new Set(foreign.map(({ from }) => from))];
          const message = `${channelText(channel.name, name)} has edges from ${listed(names)} of other channels`;
          const location = placeOfEntry(channel, first.index, first.field);
          report(message, location, { package: name, channel: channel.name, installed: names });
        }
      }
    },
  },
  {
    id: 'graph/path-length',
    severity: 'warning',
    summary: 'Reports installations that need many upgrades in a row to reach the channel head',
    checkWorld(world, report) {
      if (!world.olm.has('v0')) return;
      for (const { name, channels, bundles } of checkedPackages(world)) {
        for (const channel of channels.values()) {
          const paths = channel.entries.flatMap((entry) => {
            const bundle = bundles.get(entry.name);
            if (!bundle) return [];
            const { hops, arrives } = world.foresight.v0(
              { package: name, channel: channel.name },
              installedOf(bundle),
            );
            // Another rule reports a path that does not reach the head.
            return arrives ? [{ bundle, hops }] : [];
          });
          const [longest] = [...paths].sort((a, b) => b.hops - a.hops);
          if (!longest || longest.hops <= LONG) continue;
          const far = paths.filter(({ hops }) => hops > LONG).map(({ bundle }) => shortName(bundle));
          const message = `${channelText(channel.name, name)}: ${shortName(longest.bundle)} needs ${longest.hops} upgrades in a row to reach the head`;
          report(message, placeOfHead(channel), {
            package: name,
            channel: channel.name,
            subject: 'hops',
            installed: far,
            severity: longest.hops > VERY_LONG ? 'warning' : 'info',
            hint: 'add a skipRange to the head that covers the versions with a tested direct upgrade',
          });
        }
      }
    },
  },
  {
    id: 'graph/cross-channel-edge-divergence',
    severity: 'warning',
    summary: 'Reports bundles with different upgrade edges in their channels, which OLM v1 combines',
    checkWorld(world, report) {
      if (!world.olm.has('v1')) return;
      for (const ofPackage of checkedPackages(world)) {
        const diverging = divergingIn(ofPackage);
        const [first] = diverging;
        if (!first) continue;
        const names = [...new Set(diverging.map(({ bundle }) => shortName(bundle)))];
        const { bundle, here, there } = first;
        const example = `${shortName(bundle)} has ${edgeText(here.entry)} in ${quoted(here.channel.name)} and ${edgeText(there.entry)} in ${quoted(there.channel.name)}`;
        const message = `package ${quoted(ofPackage.name)}: ${listed(names)} ${names.length === 1 ? 'has' : 'have'} different upgrade edges in different channels, and OLM v1 combines them: ${example}`;
        report(message, placeOfEntry(here.channel, here.entry.index), {
          package: ofPackage.name,
          channel: here.channel.name,
          installed: names,
          hint: 'give the entry the same replaces and skipRange in every channel, or tell users of OLM v1 to select one',
        });
      }
    },
  },
];

/** More upgrades in a row than this are worth a word, and than the second a warning: each one is waited for. */
const LONG = 10;
const VERY_LONG = 25;

interface Spot {
  readonly channel: Channel;
  readonly entry: Entry;
}

/** Bundles with two entries that both have edges, but different ones. The first entry of a channel has none. */
function divergingIn(ofPackage: Package): { bundle: Bundle; here: Spot; there: Spot }[] {
  const spots = new Map<string, Spot>();
  return [...ofPackage.channels.values()].flatMap((channel) =>
    channel.entries.flatMap((entry) => {
      const bundle = ofPackage.bundles.get(entry.name);
      const there = spots.get(entry.name);
      const here = { channel, entry };
      if (entry.replaces !== '' || entry.skipRange !== '') spots.set(entry.name, there ?? here);
      const differs =
        there &&
        (isOther(entry.replaces, there.entry.replaces) || isOther(entry.skipRange, there.entry.skipRange));
      return bundle && differs ? [{ bundle, here, there }] : [];
    }),
  );
}

function isOther(a: string, b: string): boolean {
  return a !== '' && b !== '' && a !== b;
}

/** The edges of an entry that lead into it, in words. */
function edgeText({ replaces, skipRange }: Entry): string {
  const parts = [
    ...(replaces === '' ? [] : [`replaces ${replaces}`]),
    ...(skipRange === '' ? [] : [`skipRange ${quoted(skipRange)}`]),
  ];
  return parts.join(' and ') || 'no edge';
}
