/** How a basic template and a catalog differ: a basic template says its channels and the images of its bundles itself. */
import { createHash } from 'node:crypto';
import type { Blobs, Bundle, Channel } from '../../../catalog/fbc/model.ts';
import { locate } from '../../../catalog/fbc/model.ts';
import type { Location } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { quoted } from '../../../catalog/names.ts';

/** How a catalog and the rendering of a template differ. */
export interface Difference {
  readonly text: string;
  /** In the template, where that has what the catalog lacks. */
  readonly location?: Location;
}

/** The first difference between a catalog and its rendered template. */
export function differenceOf(template: Blobs, catalog: Blobs): Difference | undefined {
  const [want, have] = [template, catalog].map(({ packages }) => packages[0]?.defaultChannel);
  if (want !== undefined && have !== undefined && want !== have)
    return { text: `the default channel is ${quoted(want)} in the template, ${quoted(have)} in the catalog` };
  const there = firstByName(catalog.channels);
  for (const channel of template.channels) {
    const other = there.get(channel.name);
    if (!other)
      return { text: `channel ${quoted(channel.name)} is only in the template`, location: locate(channel) };
    const difference = entryDifference(channel, other);
    if (difference) return difference;
  }
  const wanted = firstByName(template.channels);
  const more = catalog.channels.find(({ name }) => !wanted.has(name));
  if (more) return { text: `channel ${quoted(more.name)} is only in the catalog` };
  return bundleDifference(template, catalog);
}

/** A text that templates and catalogs have in common that differ in nothing but the default channel. */
export function contentKey({ channels, bundles }: Blobs): string {
  const byName = ([a]: readonly [string, ...unknown[]], [b]: readonly [string, ...unknown[]]): number =>
    compareText(a, b);
  const entriesOf = ({ entries }: Channel): unknown[] =>
    [...firstByName(entries)].map(([name, entry]) => [name, edgesOf(entry)] as const).sort(byName);
  const text = JSON.stringify([
    [...firstByName(channels)].map(([name, channel]) => [name, entriesOf(channel)] as const).sort(byName),
    [...new Set(bundles.map(imageOrName))].sort(compareText),
  ]);
  return createHash('sha256').update(text).digest('base64');
}

/** The upgrade edges of an entry as text, whatever the order of its skips. */
function edgesOf({ replaces, skips, skipRange }: Channel['entries'][number]): string {
  return JSON.stringify([replaces, [...skips].sort(compareText), skipRange]);
}

/** The first difference between a channel in a template and in its catalog. */
function entryDifference(template: Channel, catalog: Channel): Difference | undefined {
  const where = `in channel ${quoted(template.name)}`;
  const there = firstByName(catalog.entries);
  for (const entry of template.entries) {
    const location = locate(template, 'entries', entry.index);
    const other = there.get(entry.name);
    if (!other) return { text: `the entry ${quoted(entry.name)} ${where} is only in the template`, location };
    if (edgesOf(entry) !== edgesOf(other))
      return { text: `the entry ${quoted(entry.name)} ${where} has different upgrade edges`, location };
  }
  const wanted = firstByName(template.entries);
  const more = catalog.entries.find(({ name }) => !wanted.has(name));
  return more && { text: `the entry ${quoted(more.name)} ${where} is only in the catalog` };
}

/** Channels or entries by name; of equal names the first counts. */
function firstByName<T extends { readonly name: string }>(all: readonly T[]): ReadonlyMap<string, T> {
  return new Map(all.map((one) => [one.name, one] as const).reverse());
}

/** The first bundle that only one of them has. */
function bundleDifference(template: Blobs, catalog: Blobs): Difference | undefined {
  const [want, have] = [template, catalog].map(({ bundles }) => new Set(bundles.map(imageOrName)));
  const lacking = template.bundles.find((bundle) => !have?.has(imageOrName(bundle)));
  if (lacking)
    return {
      text: `the bundle ${quoted(imageOrName(lacking))} is only in the template`,
      location: locate(lacking),
    };
  const more = catalog.bundles.find((bundle) => !want?.has(imageOrName(bundle)));
  return more && { text: `the bundle ${quoted(imageOrName(more))} is only in the catalog` };
}

/** What a bundle is compared by: a template need not name one that has an image, and copies one that has none as it is. */
function imageOrName({ image, name }: Bundle): string {
  return image === '' ? name : image;
}
