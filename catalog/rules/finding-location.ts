/** The locations of findings about graphs: an entry, else its channel, else its package. */

import { headOf } from '../fbc/channel.ts';
import { type Channel, type Entry, locate } from '../fbc/model.ts';
import type { Location } from '../finding.ts';
import { onceFor } from '../go/once.ts';
import type { World } from '../olm/foresight/world.ts';

/** The channel of a world's catalog. */
export function channelIn({ catalog }: World, ofPackage: string, channel: string): Channel | undefined {
  return catalog.packages.get(ofPackage)?.channels.get(channel);
}

/** The entry of a bundle in a channel. */
export function entryIn(channel: Channel | undefined, name: string): Entry | undefined {
  return channel && entriesByName(channel).get(name);
}

/** The first of several entries of one name counts. */
const entriesByName = onceFor(
  ({ entries }: Channel): ReadonlyMap<string, Entry> =>
    new Map([...entries].reverse().map((entry) => [entry.name, entry])),
);

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
