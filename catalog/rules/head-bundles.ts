/** What people install today: the heads of all channels. */
import { headsOf } from '../fbc/channel.ts';
import type { Bundle, Package } from '../fbc/model.ts';

/** The bundles that are heads of channels of a package, each once. */
export function headBundles({ channels, bundles }: Package): Bundle[] {
  const names = new Set([...channels.values()].flatMap(headsOf).map(({ name }) => name));
  return [...names].flatMap((name) => bundles.get(name) ?? []);
}
