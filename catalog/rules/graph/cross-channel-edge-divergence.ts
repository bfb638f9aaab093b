import { shortName } from '../../fbc/edge.ts';
import type { Bundle, Channel, Entry, Package } from '../../fbc/model.ts';
import { checkedPackages } from '../../olm/foresight/world.ts';
import { placeOfEntry } from '../finding-location.ts';
import { listed } from '../message-text.ts';
import { quoted, type Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'graph/cross-channel-edge-divergence',
  severity: 'warning',
  summary: 'Reports bundles with different upgrade edges in their channels, which OLM v1 combines',
  foresee(world, report) {
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
};

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

function edgeText({ replaces, skipRange }: Entry): string {
  const parts = [
    ...(replaces === '' ? [] : [`replaces ${replaces}`]),
    ...(skipRange === '' ? [] : [`skipRange ${quoted(skipRange)}`]),
  ];
  return parts.join(' and ') || 'no edge';
}
