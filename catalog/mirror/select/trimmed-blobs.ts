/**
 * Removes parts of blobs, and of their written objects.
 */
import type { Channel, Deprecations } from '../../fbc/model.ts';

/** The channel with those of its entries alone. */
export function withEntries(channel: Channel, names: ReadonlySet<string>): Channel {
  const entries = channel.entries.filter(({ name }) => names.has(name));
  const written = channel.value['entries'];
  const value = Array.isArray(written)
    ? { ...channel.value, entries: entries.map(({ index }): unknown => written[index]) }
    : channel.value;
  return { ...channel, entries: entries.map((entry, index) => ({ ...entry, index })), value };
}

/** What remains in a selection. */
interface Remaining {
  /** Names of channels and of bundles, by package. */
  readonly channels: ReadonlyMap<string, ReadonlySet<string>>;
  readonly bundles: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The deprecations of what remains. */
export function withRemaining(deprecations: Deprecations, { channels, bundles }: Remaining): Deprecations {
  const { package: name } = deprecations;
  const entries = deprecations.entries.filter((entry) => {
    if (entry.schema === 'olm.channel') return channels.get(name)?.has(entry.name) === true;
    return entry.schema !== 'olm.bundle' || bundles.get(name)?.has(entry.name) === true;
  });
  if (entries.length === deprecations.entries.length) return deprecations;
  const written = deprecations.value['entries'];
  const value = Array.isArray(written)
    ? { ...deprecations.value, entries: entries.map(({ index }): unknown => written[index]) }
    : deprecations.value;
  return { ...deprecations, entries: entries.map((entry, index) => ({ ...entry, index })), value };
}

/** The names of blobs, by package. */
export function namesByPackage(
  blobs: readonly { readonly package: string; readonly name: string }[],
): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const { package: ofPackage, name } of blobs) {
    names.set(ofPackage, (names.get(ofPackage) ?? new Set()).add(name));
  }
  return names;
}
