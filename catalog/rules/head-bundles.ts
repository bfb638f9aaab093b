/** The bundles that new installations get: the heads of all channels. */
import { headsOf } from '../fbc/channel.ts';
import type { Bundle, Package } from '../fbc/model.ts';

/** The bundles that are heads of channels of a package, each once. */
export function headBundles({ channels, bundles }: Package): Bundle[] {
  const names = new Set([...channels.values()].flatMap(headsOf).map(({ name }) => name));
  return [...names].flatMap((name) => bundles.get(name) ?? []);
}

/** A head that is not deprecated, and the channels of which it is one. */
interface SupportedHead {
  readonly bundle: Bundle;
  readonly channels: readonly string[];
}

/** The heads of a package, each once, without those that are deprecated or whose channel or package is. */
export function supportedHeads(ofPackage: Package): SupportedHead[] {
  if (ofPackage.deprecation !== undefined) return [];
  const live = [...ofPackage.channels.values()].filter(({ name }) => !ofPackage.deprecatedChannels.has(name));
  return headBundles(ofPackage).flatMap((bundle) => {
    if (ofPackage.deprecatedBundles.has(bundle.name)) return [];
    const channels = live.filter((channel) => headsOf(channel).some(({ name }) => name === bundle.name));
    return channels.length === 0 ? [] : [{ bundle, channels: channels.map(({ name }) => name) }];
  });
}
