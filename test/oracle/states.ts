/** Packages for merges that are written by hand. */
import type { Entry, Package } from './repository-state.ts';

/** A package whose default channel is `stable`. */
export function packageOf(
  channels: Readonly<Record<string, readonly Entry[]>>,
  more: Partial<Package> = {},
): Package {
  return { defaultChannel: 'stable', channels, rebuilt: [], deprecated: [], requires: {}, ...more };
}

/** A chain of versions, each replacing the one before. */
export function chain(...versions: readonly string[]): Entry[] {
  return versions.map((version, i) => {
    const { [i - 1]: replaces } = versions;
    return { version, ...(replaces === undefined ? {} : { replaces }) };
  });
}
