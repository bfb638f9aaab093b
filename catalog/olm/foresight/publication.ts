/** What clusters may have: nobody runs a bundle that was never published. */
import type { PublishedBundle } from './world.ts';

/** A bundle, a channel or a whole package: what is left out is not asked about. */
export interface Publishable {
  readonly package: string;
  readonly channel?: string;
  readonly bundle?: string;
}

/** Whether clusters may have it. */
export type IsPublished = (of: Publishable) => boolean;

/** What a catalog has counts as published. */
export const ALL_PUBLISHED: IsPublished = () => true;

/** Only what a list has counts as published, in whatever channel of its package a bundle is. */
export function onlyPublished(published: ReadonlyMap<string, readonly PublishedBundle[]>): IsPublished {
  const names = new Map(
    [...published].map(([name, bundles]) => [
      name,
      {
        channels: new Set(bundles.map(({ channel }) => channel)),
        bundles: new Set(bundles.map((bundle) => bundle.name)),
      },
    ]),
  );
  return ({ package: name, channel, bundle }) => {
    const known = names.get(name);
    return (
      known !== undefined &&
      known.bundles.size > 0 &&
      (channel === undefined || known.channels.has(channel)) &&
      (bundle === undefined || known.bundles.has(bundle))
    );
  };
}
