/**
 * A channel as a chain of replacements.
 */
import type { Channel, Entry } from '../../fbc/model.ts';

/** An entry on the way from the head down, with what it skips. */
export type Link = Pick<Entry, 'name' | 'skips'>;

/** The entries from the head down along `replaces`, the last one perhaps only by name; a circle ends it. */
export function chainFrom(channel: Channel, head: Entry): Link[] {
  const entries = new Map(channel.entries.map((entry) => [entry.name, entry]));
  const chain = new Map<string, Link>();
  for (let name = head.name; name !== '' && !chain.has(name); ) {
    const entry: Entry | undefined = entries.get(name);
    chain.set(name, entry ?? { name, skips: [] });
    name = entry?.replaces ?? '';
  }
  return [...chain.values()];
}

/** Whether entries follow each other in a circle, by `replaces` or `skips`. */
export function hasCycle({ entries }: Channel): boolean {
  const waiting = new Map<string, Set<string>>();
  const below = new Map(
    entries.map((entry) => [entry.name, [entry.replaces, ...entry.skips].filter(Boolean)]),
  );
  for (const [name, names] of below) {
    for (const lower of names) waiting.set(lower, (waiting.get(lower) ?? new Set()).add(name));
  }
  // Takes entries above which nothing is left, one after the other: what remains is in a circle or below one.
  const queue = entries.map(({ name }) => name).filter((name) => !waiting.has(name));
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    for (const lower of below.get(name) ?? []) {
      const left = waiting.get(lower);
      if (!left?.delete(name) || left.size > 0) continue;
      waiting.delete(lower);
      queue.push(lower);
    }
  }
  return waiting.size > 0;
}
