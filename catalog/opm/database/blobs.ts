/**
 * A database as the file-based catalog that `opm render` and `opm migrate` made of it.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/sqlite/conversion.go
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/action/render.go
 */

import { type CsvIcon, csvIcon } from '../../bundle/csv-icon.ts';
import type { SourceDocument } from '../../fbc/document.ts';
import type { Blobs, Bundle, RelatedImage } from '../../fbc/model.ts';
import { newBlob, newDocument } from '../../fbc/new-blob.ts';
import { groupedBy } from '../../go/grouped.ts';
import { isObject, textOf } from '../../go/shape.ts';
import { compareText } from '../../go/text.ts';
import { quoted } from '../../names.ts';
import { parseVersion, VersionError } from '../../version/version.ts';
import { csvAmong, jsonValue, manifestTexts } from './csv-facts.ts';
import { bundleProperties } from './properties.ts';
import { type BundleRow, DatabaseError, type DatabaseRows, type EntryRow, type PackageRow } from './rows.ts';

/**
 * Packages, channels and bundles by name. What was deprecated is left out, as it was.
 *
 * @param file what the database is called, for messages
 * @throws DatabaseError for what opm cannot read either
 */
export function databaseBlobs(rows: DatabaseRows, file: string): Blobs {
  const document = newDocument({ file, line: 1, column: 1 });
  // Of two channels with one name, the first counts.
  const heads = new Map([...rows.channels].reverse().map((row) => [keyOf(row.package, row.name), row.head]));
  const offered = new Set([...rows.bundles.values()].filter(isOffered).map(({ name }) => name));
  const edges = edgesOf(rows.entries).filter(({ bundle }) => offered.has(bundle));
  const lost = edges.find((edge) => !heads.has(keyOf(edge.package, edge.channel)));
  if (lost) {
    const { bundle, channel, package: pkg } = lost;
    throw new DatabaseError(
      `the bundle ${quoted(bundle)} is in the channel ${quoted(channel)} of the package ${quoted(pkg)}, which does not exist`,
    );
  }
  return {
    packages: sorted(rows.packages).map((row) => {
      const head = heads.get(keyOf(row.name, row.defaultChannel));
      return packageBlob(row, head === undefined ? undefined : rows.bundles.get(head), document);
    }),
    channels: channelBlobs(rows, edges, document),
    bundles: bundleBlobs(rows, edges, document),
    deprecations: [],
    others: [],
  };
}

/** Whether a catalog has the bundle: deprecated ones are left out. */
function isOffered({ properties }: BundleRow): boolean {
  return !properties.some(({ type }) => type === 'olm.deprecated');
}

function keyOf(pkg: string, name: string): string {
  return JSON.stringify([pkg, name]);
}

function sorted<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return [...items].sort((a, b) => compareText(a.name, b.name));
}

/** The `olm.package` blob of a row, with the icon of the default channel's head. */
function packageBlob(
  { name, defaultChannel }: PackageRow,
  head: BundleRow | undefined,
  document: SourceDocument,
): Blobs['packages'][number] {
  const icon = iconOf(head);
  const value = { schema: 'olm.package', name, defaultChannel, ...(icon ? { icon } : {}) };
  const decoded = newBlob(value, document);
  if (decoded.kind !== 'package') throw new TypeError('internal error: created an invalid package');
  return decoded.blob;
}

/** The icon of the default channel's head. */
function iconOf(head: BundleRow | undefined): CsvIcon | undefined {
  if (!head) return undefined;
  const what = `the ClusterServiceVersion of the bundle ${quoted(head.name)}`;
  const csv = jsonValue(what, head.csv ?? '');
  return csvIcon(isObject(csv) ? csv : {});
}

/** The `olm.channel` blobs that opm makes from a database. */
function channelBlobs(
  rows: DatabaseRows,
  edges: readonly RowEdges[],
  document: SourceDocument,
): Blobs['channels'] {
  const channels = [...rows.channels].sort(
    (a, b) => compareText(a.package, b.package) || compareText(a.name, b.name),
  );
  const lanes = groupedBy(edges, (edge) => keyOf(edge.package, edge.channel));
  return channels.map(({ package: pkg, name }) => {
    const entries = (lanes.get(keyOf(pkg, name)) ?? [])
      .sort((a, b) => compareText(a.bundle, b.bundle))
      .map(({ bundle, replaces, skips }) => {
        const skipRange = rows.bundles.get(bundle)?.skipRange ?? '';
        return {
          name: bundle,
          ...(replaces === '' ? {} : { replaces }),
          ...(skips.length === 0 ? {} : { skips }),
          ...(skipRange === '' ? {} : { skipRange }),
        };
      });
    const blob = newBlob({ schema: 'olm.channel', name, package: pkg, entries }, document);
    if (blob.kind !== 'channel') throw new TypeError('internal error: created an invalid channel');
    return blob.blob;
  });
}

/** The bundles of a database. A bundle in several packages becomes one in each. */
function bundleBlobs(
  rows: DatabaseRows,
  edges: readonly RowEdges[],
  document: SourceDocument,
): Blobs['bundles'] {
  const wanted = new Map(edges.map((edge) => [keyOf(edge.package, edge.bundle), edge]));
  refuseCopies([...wanted.values()], rows);
  return [...wanted.values()]
    .sort((a, b) => compareText(a.package, b.package) || compareText(a.bundle, b.bundle))
    .flatMap(({ package: pkg, bundle }) => {
      const row = rows.bundles.get(bundle);
      return row ? [bundleBlob(row, pkg, document)] : [];
    });
}

/** Most values of the copies of bundles that several packages have. */
const MOST_COPIED = 1_000_000;
/** Real JSON has one value in more bytes. */
const BYTES_A_VALUE = 24;

/** A small database can name one large bundle in thousands of packages. @throws DatabaseError beyond the limit */
function refuseCopies(wanted: readonly RowEdges[], { bundles }: DatabaseRows): void {
  const weights = new Map<string, number>();
  let copied = 0;
  for (const { bundle } of wanted) {
    const known = weights.get(bundle);
    const row = bundles.get(bundle);
    if (known !== undefined) copied += known;
    else if (row) weights.set(bundle, weightOf(row));
    if (copied > MOST_COPIED)
      throw new DatabaseError(`the bundles in several packages have more than ${MOST_COPIED} values`);
  }
}

/** About how many values a bundle has. */
function weightOf({ csv, manifests, properties, dependencies, relatedImages }: BundleRow): number {
  const typed = [...properties, ...dependencies];
  const texts = [csv ?? '', manifests ?? '', ...typed.map(({ value }) => value)];
  const bytes = texts.reduce((sum, { length }) => sum + length, 0);
  return 1 + typed.length + relatedImages.length + bytes / BYTES_A_VALUE;
}

/** The `olm.bundle` blob that opm makes from a row of the database. @throws DatabaseError */
function bundleBlob(row: BundleRow, pkg: string, document: SourceDocument): Bundle {
  const texts = manifestTexts(row.name, row.manifests ?? '');
  const csv = csvAmong(texts);
  if (texts.length > 0 && !csv) {
    throw new DatabaseError(`the manifests of the bundle ${quoted(row.name)} have no ClusterServiceVersion`);
  }
  const version = versionOf(row);
  const relatedImages = relatedImagesOf(row, csv);
  const properties = bundleProperties(row, pkg, texts);
  const fields = {
    schema: 'olm.bundle',
    name: row.name,
    package: pkg,
    image: row.image,
    properties,
    relatedImages,
  };
  return { ...fields, value: fields, document, version, release: '' };
}

/** The version of a row. @throws DatabaseError for one that opm cannot read */
function versionOf({ name, version }: BundleRow): Bundle['version'] {
  try {
    return parseVersion(version);
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    throw new DatabaseError(
      `the version ${quoted(version)} of the bundle ${quoted(name)} is not valid: ${error.message}`,
    );
  }
}

/** The related images that opm writes: those in the manifests with their names, and those only in the database. */
function relatedImagesOf(
  { relatedImages }: BundleRow,
  csv: Readonly<Record<string, unknown>> | undefined,
): RelatedImage[] {
  const spec = csv && isObject(csv['spec']) ? csv['spec'] : {};
  const listed: unknown[] = Array.isArray(spec['relatedImages']) ? spec['relatedImages'] : [];
  const named = listed
    .filter(isObject)
    .map(({ name, image }) => ({ name: textOf(name), image: textOf(image) }));
  const namedImages = new Set(named.map(({ image }) => image));
  const others = [...new Set(relatedImages)].filter((image) => !namedImages.has(image)).sort(compareText);
  return [...named, ...others.map((image) => ({ name: '', image }))];
}

interface RowEdges {
  readonly package: string;
  readonly channel: string;
  readonly bundle: string;
  /** Empty when the bundle replaces nothing. */
  readonly replaces: string;
  readonly skips: readonly string[];
}

/**
 * One item for each bundle of each channel. Entries are edges that come in: the chain of `replaces` is what leads from
 * the heads on, every other edge is a skip. Of several bundles on the chain, opm's query takes the last one in byte order.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/sqlite/query.go
 */
function edgesOf(entries: readonly EntryRow[]): RowEdges[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const chain = rowsOnMainChain(entries, byId);
  const found = new Map<string, RowEdges & { replaces: string; skips: string[] }>();
  for (const entry of [...entries].sort((a, b) => a.id - b.id)) {
    const { package: pkg, channel, bundle } = entry;
    const key = JSON.stringify([bundle, pkg, channel]);
    const edges = found.get(key) ?? { package: pkg, channel, bundle, replaces: '', skips: [] };
    found.set(key, edges);
    const target = entry.replaces === undefined ? undefined : byId.get(entry.replaces);
    if (!target) continue;
    if (!chain.has(entry.id)) edges.skips.push(target.bundle);
    else if (compareText(target.bundle, edges.replaces) > 0) edges.replaces = target.bundle;
  }
  return [...found.values()];
}

/** The rows of entries on the main chain: those at the lowest depth of the whole database, what these replace, and so on. */
function rowsOnMainChain(entries: readonly EntryRow[], byId: ReadonlyMap<number, EntryRow>): Set<number> {
  const least = entries.reduce(
    (least, { depth = least }) => Math.min(least, depth),
    Number.POSITIVE_INFINITY,
  );
  const chain = new Set<number>();
  for (const head of entries) {
    if (head.depth !== least) continue;
    for (let at: EntryRow | undefined = head; at && !chain.has(at.id); ) {
      chain.add(at.id);
      at = at.replaces === undefined ? undefined : byId.get(at.replaces);
    }
  }
  return chain;
}
