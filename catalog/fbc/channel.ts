/**
 * A channel as operator-registry sees it: its head, the chain of replacements below it,
 * and the entries that are on no upgrade path to the head. Ranges play no part here.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/model/model.go
 */
import type { Channel, Entry } from './model.ts';

/** Entries that no other entry of the channel replaces or skips, in the channel's order. */
export function headsOf(channel: Channel): Entry[] {
  const followed = new Set<string>();
  for (const entry of channel.entries) {
    if (entry.replaces !== '') followed.add(entry.replaces);
    for (const skip of entry.skips) followed.add(skip);
  }
  return channel.entries.filter((entry) => !followed.has(entry.name));
}

/** The head, or undefined when there is none or more than one. */
export function headOf(channel: Channel): Entry | undefined {
  const heads = headsOf(channel);
  return heads.length === 1 ? heads[0] : undefined;
}

export interface Chain {
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
  const skipped = new Set(channel.entries.flatMap((entry) => entry.skips));
  const chain = new Map<string, number>([[head.name, 0]]);
  let cycle: string[] | undefined;
  for (let at: Entry | undefined = head; at && !skipped.has(at.replaces); at = entries.get(at.replaces)) {
    const seen = chain.get(at.replaces);
    if (seen !== undefined) {
      cycle = [...[...chain.keys()].slice(seen), at.replaces];
      break;
    }
    chain.set(at.replaces, chain.size);
  }
  const stranded = cycle ? [] : channel.entries.filter(({ name }) => !chain.has(name) && !skipped.has(name));
  return { names: [...chain.keys()].filter((name) => name !== ''), cycle, stranded };
}

/** Whether a channel has one head, and an upgrade path to it from every entry. */
export function hasChain(channel: Channel): boolean {
  const head = headOf(channel);
  const chain = head && chainBelow(channel, head);
  return chain !== undefined && !chain.cycle && chain.stranded.length === 0;
}
