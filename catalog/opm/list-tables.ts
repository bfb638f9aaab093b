/**
 * What is in a catalog, in columns for people, as `opm alpha list` prints it.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/action/list.go
 */
import { CSV } from '../bundle/csv-shape.ts';
import { csvTextOf } from '../fbc/cache/bundle.ts';
import { headOf } from '../fbc/channel.ts';
import type { Catalog, Channel, Package } from '../fbc/model.ts';
import { fitStruct, isObject } from '../go/shape.ts';
import { compareText } from '../go/text.ts';
import { parsedJson } from '../json.ts';

/** Packages by name: name, display name of the default channel's head, default channel. */
export function packageTable(catalog: Catalog): string {
  const rows = packagesOf(catalog).map((pkg) => [pkg.name, displayName(pkg), pkg.defaultChannel]);
  return columns([['NAME', 'DISPLAY NAME', 'DEFAULT CHANNEL'], ...rows]);
}

/** Channels with their heads; of one package when it is named. */
export function channelTable(catalog: Catalog, only?: string): string {
  const rows = packagesOf(catalog, only).flatMap((pkg) =>
    channelsOf(pkg).map((channel) => [pkg.name, channel.name, headOf(channel)?.name ?? '']),
  );
  return columns([['PACKAGE', 'CHANNEL', 'HEAD'], ...rows]);
}

/** Entries of channels; of one package when it is named. */
export function bundleTable(catalog: Catalog, only?: string): string {
  const rows = packagesOf(catalog, only).flatMap((pkg) =>
    channelsOf(pkg).flatMap((channel) =>
      [...channel.entries]
        .sort((a, b) => compareText(a.name, b.name))
        .map((entry) => [
          pkg.name,
          channel.name,
          entry.name,
          entry.replaces,
          entry.skips.join(','),
          entry.skipRange,
          pkg.bundles.get(entry.name)?.image ?? '',
        ]),
    ),
  );
  return columns([['PACKAGE', 'CHANNEL', 'BUNDLE', 'REPLACES', 'SKIPS', 'SKIP RANGE', 'IMAGE'], ...rows]);
}

/** The packages by name; only one of them where that is named. */
function packagesOf({ packages }: Catalog, only?: string): Package[] {
  return [...packages.values()]
    .filter(({ name }) => only === undefined || name === only)
    .sort((a, b) => compareText(a.name, b.name));
}

function channelsOf({ channels }: Package): Channel[] {
  return [...channels.values()].sort((a, b) => compareText(a.name, b.name));
}

/** opm knows the display name only of bundles that hold their manifests. */
function displayName(pkg: Package): string {
  const channel = pkg.channels.get(pkg.defaultChannel);
  const bundle = pkg.bundles.get((channel && headOf(channel)?.name) ?? '');
  const { value, misfits } = fitStruct(parsedJson((bundle && csvTextOf(bundle)) ?? '{}'), CSV);
  const spec = misfits.length === 0 ? value['spec'] : undefined;
  const name = isObject(spec) ? spec['displayName'] : undefined;
  return typeof name === 'string' ? name : '';
}

/** Cells under each other with two spaces between; the last column is as wide as it is. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) =>
    rows.reduce((widest, row) => Math.max(widest, [...(row[i] ?? '')].length), 0),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) =>
        i === row.length - 1 ? cell : cell + ' '.repeat((widths[i] ?? 0) + 2 - [...cell].length),
      )
      .join('');
  return rows.map((row) => `${line(row)}\n`).join('');
}
