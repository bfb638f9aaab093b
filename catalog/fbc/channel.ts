/**
 * A channel as operator-registry sees it: its head, the chain of replacements below it,
 * and the entries that are on no upgrade path to the head. Ranges play no part here.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/model/model.go
 */
import { onceFor } from '../go/once.ts';
import type { Channel, Entry, Package } from './model.ts';
import { namingOf } from './naming.ts';

/**
 * Entries that no other entry of the channel replaces or skips, in the channel's order. They are found once, because rules
 * ask for them with each entry.
 */
export const headsOf: (channel: Channel) => readonly Entry[] = onceFor(({ entries }: Channel) => {
  const { replacing, skipping } = namingOf(entries);
  // An empty `replaces` replaces nothing, not even an entry without a name.
  const isReplaced = (name: string): boolean => name !== '' && replacing(name).length > 0;
  return entries.filter(({ name }) => !isReplaced(name) && skipping(name).length === 0);
});

/** The head, or undefined when there is none or more than one. */
export function headOf(channel: Channel): Entry | undefined {
  const [head, ...others] = headsOf(channel);
  return others.length === 0 ? head : undefined;
}

/** The channels of a package that are not deprecated. */
export function supportedChannels({ channels, deprecatedChannels }: Package): Channel[] {
  return [...channels.values()].filter(({ name }) => !deprecatedChannels.has(name));
}

/** Whether any entry of a channel skips a name. */
export function isSkippedIn({ entries }: Channel, name: string): boolean {
  return namingOf(entries).skipping(name).length > 0;
}

interface Chain {
  /** Names from the head down; the last may be absent from the channel. */
  readonly names: readonly string[];
  /** The names of a cycle, first and last the same, when the chain runs into one. */
  readonly cycle: readonly string[] | undefined;
  /** Entries that are neither on the chain nor skipped by any entry. */
  readonly stranded: readonly Entry[];
}

/** Follows `replaces` from the head until an entry that somebody skips, as operator-registry does. */
export function chainBelow(channel: Channel, head: Entry): Chain {
  const entries = new Map(channel.entries.map((entry) => [entry.name, entry]));
  const { skipping } = namingOf(channel.entries);
  const isSkipped = (name: string): boolean => skipping(name).length > 0;
  const chain = new Map<string, number>([[head.name, 0]]);
  let cycle: string[] | undefined;
  for (let at: Entry | undefined = head; at && !isSkipped(at.replaces); at = entries.get(at.replaces)) {
    const seen = chain.get(at.replaces);
    if (seen !== undefined) {
      cycle = [...[...chain.keys()].slice(seen), at.replaces];
      break;
    }
    chain.set(at.replaces, chain.size);
  }
  const stranded = cycle ? [] : channel.entries.filter(({ name }) => !chain.has(name) && !isSkipped(name));
  // What replaces nothing ends the chain with the empty name.
  return { names: [...chain.keys()].filter((name) => name !== ''), cycle, stranded };
}

/** Whether a channel has one head, and an upgrade path to it from every entry. */
export function hasChain(channel: Channel): boolean {
  const head = headOf(channel);
  const chain = head && chainBelow(channel, head);
  return chain !== undefined && !chain.cycle && chain.stranded.length === 0;
}

/** The channels of a package by their names, or all of them for none, in its order. */
export function selectedIn({ channels }: Package, names: readonly string[]): readonly Channel[] {
  if (names.length === 0) return [...channels.values()];
  const [only = ''] = names;
  const one = names.length === 1 ? channels.get(only) : undefined;
  if (one) return [one];
  return [...channels.values()].filter(({ name }) => names.includes(name));
}

/** The first channel of a package with the same entries as another one: often that itself. */
export function firstAlike(ofPackage: Package, channel: string): string {
  return alikeIn(ofPackage).get(channel) ?? channel;
}

/** Channels of one length, first and last entry that are compared: those of a package are alike or have other heads. */
const COMPARED = 20;

/**
 * For each channel, the first one with the same entries. Only a few candidates are compared, so that many channels that
 * look alike cost little.
 */
const alikeIn = onceFor(({ channels }: Package): ReadonlyMap<string, string> => {
  const first = new Map<string, string>();
  const kinds = new Map<string, Channel[]>();
  for (const channel of channels.values()) {
    const { entries } = channel;
    const key = JSON.stringify([entries.length, entries[0]?.name, entries.at(-1)?.name]);
    const others = kinds.get(key) ?? [];
    const same = others.find((other) => other.entries.every((one, i) => isSameEntry(one, entries[i])));
    first.set(channel.name, same?.name ?? channel.name);
    if (!same && others.length < COMPARED) kinds.set(key, [...others, channel]);
  }
  return first;
});

/** Whether two entries have the same name and edges, in whatever place of their channels. */
function isSameEntry(one: Entry, other: Entry | undefined): boolean {
  return (
    other !== undefined &&
    one.name === other.name &&
    one.replaces === other.replaces &&
    one.skipRange === other.skipRange &&
    one.skips.length === other.skips.length &&
    one.skips.every((name, i) => name === other.skips[i])
  );
}
