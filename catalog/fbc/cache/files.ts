/**
 * The files of opm's JSON cache, as `opm serve --cache-only` writes them: for each entry
 * of a channel its bundle, for each blob of another schema the blob, and `packages.json`.
 * With the digest (see layout.ts) they are the whole cache.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/cache/json.go
 */

import { fnv1a } from '../../go/fnv.ts';
import { goObject, goString } from '../../go/json-marshal.ts';
import { compactJson } from '../../go/json-text.ts';
import { isObject } from '../../go/shape.ts';
import { compareText } from '../../go/text.ts';
import { fieldsOf } from '../blob.ts';
import { headOf } from '../channel.ts';
import type { Blob, Channel, Entry, Package } from '../model.ts';
import { type BundleParts, bundleJson, bundleParts, writtenSkips } from './bundle.ts';
import { goIcon } from './csv.ts';

export interface CacheFile {
  /** Path below the folder `cache/` of the cache. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Name of an entry's file. */
export function bundlePath(pkg: string, channel: string, entry: string): string {
  return `${pkg}_${channel}_${entry}.json`;
}

/** Yields the bundle files of a package by name: one for each channel entry whose bundle the catalog has. */
export function* bundleFiles(pkg: Package): Generator<CacheFile> {
  const places = placesOf(pkg);
  const remaining = new Map<string, number>();
  for (const { entry } of places) remaining.set(entry.name, (remaining.get(entry.name) ?? 0) + 1);
  // Large: the parts of a bundle are dropped with its last file.
  const cache = new Map<string, BundleParts>();
  for (const { path, channel, entry } of places) {
    const bundle = pkg.bundles.get(entry.name);
    if (!bundle) continue;
    const parts = cache.get(entry.name) ?? bundleParts(pkg, bundle);
    const filesLeft = (remaining.get(entry.name) ?? 1) - 1;
    remaining.set(entry.name, filesLeft);
    if (filesLeft > 0) cache.set(entry.name, parts);
    else cache.delete(entry.name);
    const deprecation = pkg.deprecatedBundles.get(entry.name);
    yield { path, bytes: bundleJson(channel, entry, { ...parts, deprecation }) };
  }
}

interface Place {
  readonly path: string;
  readonly channel: Channel;
  readonly entry: Entry;
}

/** The entries of a package with their files in the cache, in the order of the files' paths. */
function placesOf(pkg: Package): Place[] {
  const places = [...pkg.channels.values()].flatMap((channel) =>
    channel.entries.map((entry) => ({
      path: bundlePath(pkg.name, channel.name, entry.name),
      channel,
      entry,
    })),
  );
  return places.sort((a, b) => compareText(a.path, b.path));
}

const encoder = new TextEncoder();

/** The file of a blob whose schema is not OLM's. */
export function metaFile(blob: Blob): CacheFile {
  const bytes = encoder.encode(blobLine(blob));
  const folder = blob.package === '' ? blob.schema : `${blob.schema}/${blob.package}`;
  return { path: `metas/${folder}/${fnv1a(bytes).toString(16)}.json`, bytes };
}

/** A blob as opm keeps it: the whole value on one line, keys sorted, unknown fields included. */
export function blobLine(blob: Blob): string {
  return `${compactJson(blob.value)}\n`;
}

// A package's member of `packages.json`: its channels, their heads and edges. opm's
// server keeps this file in memory and finds bundles by it.
//
// @see https://github.com/operator-framework/operator-registry/blob/master/pkg/cache/pkgs.go

interface PackageIndexOptions {
  /** Whether to write the package's icon. opm does; nothing ever reads it there. */
  readonly icon: boolean;
}

/** `"name":{…}`, for {@link packagesJson}. */
export function packageMember(pkg: Package, { icon }: PackageIndexOptions): string {
  const channels = [...pkg.channels.values()].sort((a, b) => compareText(a.name, b.name));
  const body = goObject([
    ['name', goString(pkg.name)],
    ['description', goString(pkg.blob?.description ?? '')],
    ['icon', (icon ? iconOf(pkg) : undefined) ?? 'null'],
    ['defaultChannel', goString(pkg.defaultChannel)],
    ['Channels', `{${channels.map((channel) => channelMember(pkg, channel)).join(',')}}`],
    ['deprecation', deprecationOf(pkg.deprecation)],
  ]);
  return `${goString(pkg.name)}:${body}`;
}

/** The whole file, of members sorted by package name. */
export function packagesJson(members: readonly string[]): string {
  return `{${members.join(',')}}`;
}

/** An icon without data has `null`, which is how Go writes bytes that are not there. */
function iconOf(pkg: Package): string | undefined {
  const icon = pkg.blob && fieldsOf(pkg.blob)?.['icon'];
  if (!isObject(icon)) return undefined;
  const { base64data, mediatype } = icon;
  const type = typeof mediatype === 'string' ? mediatype : '';
  return typeof base64data === 'string'
    ? goIcon(base64data, type)
    : `{"base64data":null,"mediatype":${goString(type)}}`;
}

/** A channel in the JSON of opm's package index. */
function channelMember(pkg: Package, channel: Channel): string {
  const skips = writtenSkips(channel);
  const entries = [...channel.entries].sort((a, b) => compareText(a.name, b.name));
  const bundles = entries.map((entry) => {
    const written = skips[entry.index] ?? null;
    return `${goString(entry.name)}:${goObject([
      ['package', goString(pkg.name)],
      ['channel', goString(channel.name)],
      ['name', goString(entry.name)],
      ['replaces', goString(entry.replaces)],
      ['skips', written === null ? 'null' : `[${written.map(goString).join(',')}]`],
    ])}`;
  });
  return `${goString(channel.name)}:${goObject([
    ['Name', goString(channel.name)],
    ['Head', goString(headOf(channel)?.name ?? '')],
    ['Bundles', `{${bundles.join(',')}}`],
    ['deprecation', deprecationOf(pkg.deprecatedChannels.get(channel.name))],
  ])}`;
}

function deprecationOf(message: string | undefined): string | undefined {
  return message === undefined ? undefined : `{"message":${goString(message)}}`;
}
