/**
 * A package's member of `packages.json`: its channels, their heads and edges. opm's
 * server keeps this file in memory and finds bundles by it.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/pkg/cache/pkgs.go
 */

import { goObject, goString } from '../../go/json-marshal.ts';
import { isObject } from '../../go/shape.ts';
import { compareText } from '../../go/text.ts';
import { fieldsOf } from '../blob.ts';
import { headOf } from '../channel.ts';
import type { Channel, Package } from '../model.ts';
import { writtenSkips } from './bundle.ts';
import { goIcon } from './csv.ts';

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
