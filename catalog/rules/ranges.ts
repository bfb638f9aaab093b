/** The entries of a world that have a skipRange, for rules about them. */
import { skipRangeOf } from '../fbc/edge.ts';
import type { Bundle, Channel, Entry, Package } from '../fbc/model.ts';
import { checkedPackages, type World } from '../olm/foresight/world.ts';
import type { Version, VersionRange } from '../version/version.ts';

export interface RangedChannel {
  readonly ofPackage: Package;
  readonly channel: Channel;
  readonly ranged: readonly RangedEntry[];
}

interface RangedEntry {
  readonly channel: Channel;
  readonly entry: Entry;
  readonly range: VersionRange;
  readonly bundle: Versioned;
}

export type Versioned = Bundle & { readonly version: Version };

/** Channels in which any entry has a range. */
export function rangedChannels(world: World): RangedChannel[] {
  return checkedPackages(world).flatMap((ofPackage) =>
    [...ofPackage.channels.values()].flatMap((channel) => {
      const ranged = channel.entries.flatMap((entry): RangedEntry[] => {
        const range = skipRangeOf(entry);
        const bundle = range && bundleWithVersion(ofPackage, entry.name);
        return bundle ? [{ channel, entry, range, bundle }] : [];
      });
      return ranged.length > 0 ? [{ ofPackage, channel, ranged }] : [];
    }),
  );
}

/** A bundle of a package, if it has a version. */
export function bundleWithVersion({ bundles }: Package, name: string): Versioned | undefined {
  const bundle = bundles.get(name);
  return bundle && hasVersion(bundle) ? bundle : undefined;
}

export function hasVersion(bundle: Bundle): bundle is Versioned {
  return bundle.version !== undefined;
}

/** Whether a range has no upper end. */
export function isOpen({ alternatives }: VersionRange): boolean {
  return alternatives.some(
    (comparators) =>
      comparators.length > 0 && comparators.every(({ operator }) => ['>', '>=', '!='].includes(operator)),
  );
}
