/**
 * What a catalog no longer has of the published one: whole channels, and entries of channels. Clusters that have installed
 * such an entry are left without it.
 *
 * @see https://github.com/konflux-ci/konflux-operator-tasks/blob/main/task/fbc-target-index-pruning-check/0.1/fbc-target-index-pruning-check.yaml
 */
import type { Catalog } from '../../../catalog/fbc/model.ts';
import { compareText } from '../../../catalog/go/text.ts';

export interface Pruned {
  readonly package: string;
  readonly channel: string;
  /** Names of the entries; all of the channel's where the channel is gone. */
  readonly entries: readonly string[];
  readonly isWholeChannel: boolean;
  /** Whether the channel is for versions that are not released. */
  readonly isPreRelease: boolean;
}

/** Channels from which versions may go, as Konflux has it. */
const PRE_RELEASE = /dev-preview|pre-ga|candidate/;

/**
 * What was pruned, by package and channel.
 *
 * @param published the catalog of the published index
 * @param isWhole whether `next` is all that is to be published; a part of it is compared by the packages that it has
 */
export function prunedFrom(
  published: Catalog,
  next: Catalog,
  { isWhole }: { readonly isWhole: boolean },
): Pruned[] {
  const found: Pruned[] = [];
  for (const [name, before] of [...published.packages].sort(([a], [b]) => compareText(a, b))) {
    const after = next.packages.get(name);
    if (!after && !isWhole) continue;
    for (const { name: channel, entries } of before.channels.values()) {
      const kept = after?.channels.get(channel);
      const names = new Set(kept?.entries.map((entry) => entry.name));
      const gone = entries.map((entry) => entry.name).filter((entry) => !names.has(entry));
      if (gone.length === 0) continue;
      const isPreRelease = PRE_RELEASE.test(channel);
      found.push({ package: name, channel, entries: gone, isWholeChannel: kept === undefined, isPreRelease });
    }
  }
  return found;
}
