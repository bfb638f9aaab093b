/** The locations of findings about graphs: an entry, else its channel, else its package. */

import { headOf } from '../fbc/channel.ts';
import { type Channel, type Entry, locate } from '../fbc/model.ts';
import type { Location } from '../finding.ts';
import type { World } from '../olm/foresight/world.ts';

/** The channel of a world's catalog. */
export function channelIn({ catalog }: World, ofPackage: string, channel: string): Channel | undefined {
  return catalog.packages.get(ofPackage)?.channels.get(channel);
}

/** The entry of a bundle in a channel. */
export function entryIn(channel: Channel | undefined, name: string): Entry | undefined {
  if (!channel) return undefined;
  // The first of several entries of one name counts.
  const byName =
    entriesByChannel.get(channel) ??
    new Map([...channel.entries].reverse().map((entry) => [entry.name, entry]));
  entriesByChannel.set(channel, byName);
  return byName.get(name);
}

const entriesByChannel = new WeakMap<Channel, ReadonlyMap<string, Entry>>();

/** Place of an entry's field, by position. */
export function placeOfEntry(channel: Channel, index: number, field = 'name'): Location {
  return locate(channel, 'entries', index, field);
}

/** Place of a channel's head, or of the channel where it has none. */
export function placeOfHead(channel: Channel): Location {
  const head = headOf(channel);
  return head ? placeOfEntry(channel, head.index) : locate(channel, 'name');
}

/** Place of a package's blob or, without one, of its first channel or bundle. */
export function placeOfPackage({ catalog }: World, name: string, ...path: string[]): Location | undefined {
  const found = catalog.packages.get(name);
  const blob = found?.blob ?? found?.channels.values().next().value ?? found?.bundles.values().next().value;
  return blob && locate(blob, ...path);
}
