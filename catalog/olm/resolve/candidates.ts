/**
 * A channel as OLM v0's resolver sees it: the entries that it may install, those closest
 * to the head first. This is not the channel that `opm validate` sees: an entry that
 * any other skips is never offered, though the chain of replacements runs on through it.
 *
 * @see https://github.com/operator-framework/operator-lifecycle-manager/blob/master/pkg/controller/registry/resolver/resolver.go (sortChannel)
 */
import type { Entry } from '../../fbc/model.ts';

export type Candidates<E> =
  | { readonly kind: 'ordered'; readonly entries: readonly E[] }
  | { readonly kind: 'no-head' }
  | { readonly kind: 'cycle'; readonly head: string }
  /** Names of the entries that nothing replaces or skips. */
  | { readonly kind: 'many-heads'; readonly heads: readonly string[] };

/** Whether any of the entries skips a name. */
type IsSkipped = (name: string) => boolean;

/** Orders the entries of one channel, or of a part of it. */
export function candidatesOf<E extends Pick<Entry, 'name' | 'replaces' | 'skips'>>(
  entries: readonly E[],
  isSkipped: IsSkipped = skippedBy(entries),
): Candidates<E> {
  if (entries.length === 0) return { kind: 'ordered', entries };
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const replaced = new Set(entries.map(({ replaces }) => replaces).filter((name) => name !== ''));
  const heads = entries.filter(({ name }) => !isSkipped(name) && !replaced.has(name));
  if (heads.length === 0) return { kind: 'no-head' };
  const chain = new Set<E>();
  for (const head of heads) if (!follow(head, byName, chain)) return { kind: 'cycle', head: head.name };
  if (heads.length > 1) return { kind: 'many-heads', heads: heads.map(({ name }) => name) };
  return { kind: 'ordered', entries: [...chain].filter(({ name }) => !isSkipped(name)) };
}

function skippedBy(entries: readonly Pick<Entry, 'skips'>[]): IsSkipped {
  const skipped = new Set<string>();
  for (const { skips } of entries) for (const name of skips) skipped.add(name);
  return (name) => skipped.has(name);
}

/** Adds what is replaced below a head to the chain; false when it comes back to where it was. */
function follow<E extends Pick<Entry, 'replaces'>>(
  head: E,
  byName: ReadonlyMap<string, E>,
  chain: Set<E>,
): boolean {
  const own = new Set<E>();
  for (let at: E | undefined = head; at; at = at.replaces === '' ? undefined : byName.get(at.replaces)) {
    if (own.has(at)) return false;
    // A chain that joins another head's chain ends, as that one does.
    if (chain.has(at)) return true;
    own.add(at);
    chain.add(at);
  }
  return true;
}

/** Why a channel has no order, in the resolver's words. */
export function disorderText(candidates: Candidates<unknown>, channel: string, ofPackage: string): string {
  const where = `channel ${JSON.stringify(channel)} of package ${JSON.stringify(ofPackage)}`;
  switch (candidates.kind) {
    case 'ordered':
      return '';
    case 'no-head':
      return `no channel heads (entries not replaced by another entry) found in ${where}`;
    case 'cycle':
      return `a cycle exists in the chain of replacement beginning with ${JSON.stringify(candidates.head)} in ${where}`;
    case 'many-heads':
      return `a unique replacement chain within a channel is required to determine the relative order between channel entries, but ${candidates.heads.length} replacement chains were found in ${where}: ${candidates.heads.join(', ')}`;
  }
}
