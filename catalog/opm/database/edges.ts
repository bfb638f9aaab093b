/**
 * The edges of channels. Entries are edges that come in: the chain of `replaces` is what leads
 * from the heads on, every other edge is a skip.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/sqlite/query.go
 */
import { compareText } from '../../go/text.ts';
import type { EntryRow } from './rows.ts';

export interface RowEdges {
  readonly package: string;
  readonly channel: string;
  readonly bundle: string;
  /** Empty when the bundle replaces nothing. */
  readonly replaces: string;
  readonly skips: readonly string[];
}

/** One item for each bundle of each channel. */
export function edgesOf(entries: readonly EntryRow[]): RowEdges[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const chain = chained(entries, byId);
  const found = new Map<string, RowEdges & { replaces: string; skips: string[] }>();
  for (const entry of [...entries].sort((a, b) => a.id - b.id)) {
    const { package: pkg, channel, bundle } = entry;
    const key = JSON.stringify([bundle, pkg, channel]);
    const edges = found.get(key) ?? { package: pkg, channel, bundle, replaces: '', skips: [] };
    found.set(key, edges);
    const target = entry.replaces === undefined ? undefined : byId.get(entry.replaces);
    if (!target) continue;
    if (!chain.has(entry.id)) edges.skips.push(target.bundle);
    else if (compareText(target.bundle, edges.replaces) > 0) edges.replaces = target.bundle;
  }
  return [...found.values()];
}

/** Entries at the least depth of all, and what they replace, and what that replaces. */
function chained(entries: readonly EntryRow[], byId: ReadonlyMap<number, EntryRow>): Set<number> {
  const least = entries.reduce(
    (least, { depth = least }) => Math.min(least, depth),
    Number.POSITIVE_INFINITY,
  );
  const chain = new Set<number>();
  for (const head of entries) {
    if (head.depth !== least) continue;
    for (let at: EntryRow | undefined = head; at && !chain.has(at.id); ) {
      chain.add(at.id);
      at = at.replaces === undefined ? undefined : byId.get(at.replaces);
    }
  }
  return chain;
}
