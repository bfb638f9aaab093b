/** Links of a channel's replaces chain that another entry skips: OLM v0 never offers what is skipped. */
import type { Channel, Entry } from '../../fbc/model.ts';

/** An entry, and one name in its skips. */
interface SkippedLink {
  readonly entry: Entry;
  readonly skipped: string;
}

/** Links that are looked at: each is tried against the whole channel. */
const MOST_TRIED = 20;

/** Bundles that one entry replaces and another one skips, the last in the file first, at most 20. */
export function skippedLinks({ entries }: Channel): SkippedLink[] {
  const present = new Set(entries.map(({ name }) => name));
  const replaced = new Set(entries.map(({ replaces }) => replaces).filter((name) => present.has(name)));
  const links: SkippedLink[] = [];
  for (const entry of entries.toReversed()) {
    for (const skipped of entry.skips.toReversed()) {
      // Entries that skip what they replace themselves are another mistake, with a fix of its own.
      if (skipped === entry.replaces || !replaced.has(skipped)) continue;
      links.push({ entry, skipped });
      if (links.length === MOST_TRIED) return links;
    }
  }
  return links;
}

/** What to do about a link that is skipped. */
export function unskipText({ name }: Entry, skipped: string): string {
  return `in the entry of ${yamlScalar(name)} remove ${yamlScalar(skipped)} from skips`;
}

/** A name as YAML, whatever it is made of. */
export function yamlScalar(name: string): string {
  return /^[A-Za-z][A-Za-z0-9._+-]*$/.test(name) ? name : JSON.stringify(name);
}
