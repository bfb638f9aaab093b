/** Entries that a change takes from channels that stay. */
import { type Installed, installedOf } from '../fbc/edge.ts';
import type { Channel } from '../fbc/model.ts';
import { compareInstalled } from '../olm/foresight/installation.ts';
import type { Change } from '../olm/foresight/world.ts';

export interface Removed {
  readonly package: string;
  /** The channel as it is after the change. */
  readonly channel: Channel;
  readonly before: Channel;
  /** The bundles that were removed from it, the lowest version first. */
  readonly installed: readonly Installed[];
}

export function removedEntries(change: Change): Removed[] {
  return change.packages.flatMap((name) => {
    const was = change.before.catalog.packages.get(name);
    const channels = [...(change.after.catalog.packages.get(name)?.channels.values() ?? [])];
    return channels.flatMap((channel) => {
      const before = was?.channels.get(channel.name);
      if (!before) return [];
      const present = new Set(channel.entries.map((entry) => entry.name));
      const gone = before.entries.filter((entry) => !present.has(entry.name));
      const installed = gone.map((entry) => {
        const bundle = was?.bundles.get(entry.name);
        return bundle ? installedOf(bundle) : { name: entry.name, version: undefined };
      });
      return installed.length > 0
        ? [{ package: name, channel, before, installed: installed.sort(compareInstalled) }]
        : [];
    });
  });
}
