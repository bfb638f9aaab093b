/**
 * The tree of everything that is wrong with a catalog whose parts fit together, in opm's words.
 * opm prints packages, channels and bundles in any order; here they stand by name.
 *
 * @see https://github.com/operator-framework/operator-registry/blob/master/alpha/model/model.go
 */

import { chainBelow, headsOf } from '../fbc/channel.ts';
import { type Blobs, type Bundle, type Channel, catalogOf, type Entry, type Package } from '../fbc/model.ts';
import { compareText, goQuoted } from '../go/text.ts';
import { formatVersion, parseRange, VersionError } from '../version/version.ts';

interface ErrorTree {
  readonly message: string;
  readonly children: readonly ErrorTree[];
}

/** What opm finds wrong with blobs whose parts fit together; undefined when nothing is wrong. */
export function validationTree(blobs: Blobs): ErrorTree | undefined {
  const packages = [...catalogOf(blobs).packages.values()].sort((a, b) => compareText(a.name, b.name));
  return branch('invalid index', packages.map(packageTree));
}

/** The tree as opm draws it. */
export function treeText({ message, children }: ErrorTree, margin = ''): string {
  if (children.length === 0) return message;
  const lines = children.map((child, i) => {
    const isLast = i === children.length - 1;
    return `${margin}${isLast ? '└── ' : '├── '}${treeText(child, `${margin}${isLast ? '    ' : '│   '}`)}`;
  });
  return [`${message}:`, ...lines].join('\n');
}

/** A part of the tree, a message alone, or nothing: `false` of a condition that does not hold. */
type Branch = ErrorTree | string | undefined | false;

/** A node with the defects among its children; undefined if there are none. */
function branch(message: string, children: readonly Branch[]): ErrorTree | undefined {
  const defects = children.flatMap((child): ErrorTree[] => {
    if (child === undefined || child === false) return [];
    return [typeof child === 'string' ? { message: child, children: [] } : child];
  });
  return defects.length === 0 ? undefined : { message, children: defects };
}

/** What is wrong with a package and its channels. */
function packageTree(pkg: Package): ErrorTree | undefined {
  const { defaultChannel, channels } = pkg;
  // opm makes up a default channel that does not exist, and finds it empty.
  const names = new Set([...channels.keys(), ...(defaultChannel === '' ? [] : [defaultChannel])]);
  return branch(`invalid package ${goQuoted(pkg.name)}`, [
    defaultChannel === '' && 'default channel must be set',
    names.size === 0 && 'package must contain at least one channel',
    ...[...names].sort(compareText).map((name) => channelTree(pkg, name)),
    duplicateVersions(pkg),
    deprecation(pkg.deprecation),
  ]);
}

/** A deprecation is an error only if it has no message. */
function deprecation(message: string | undefined): Branch {
  return message === '' && 'invalid deprecation: message must be set';
}

/** Versions, with their releases, of several bundles. An entry without a bundle has the version 0.0.0. */
function duplicateVersions(pkg: Package): Branch {
  const names = new Map<string, Set<string>>();
  for (const { entries } of pkg.channels.values()) {
    for (const { name } of entries) {
      const version = versionText(pkg.bundles.get(name));
      names.set(version, (names.get(version) ?? new Set()).add(name));
    }
  }
  const duplicates = [...names]
    .filter(([, bundles]) => bundles.size > 1)
    .sort(([a], [b]) => compareText(a, b))
    .map(([version, bundles]) => `{${version}: [${[...bundles].sort(compareText).join(', ')}]}`);
  return duplicates.length > 0 && `duplicate versions found in bundles: [${duplicates.join(' ')}]`;
}

/** A bundle's version with its release; 0.0.0 without a bundle. */
function versionText(bundle: Bundle | undefined): string {
  const version = bundle?.version ? formatVersion(bundle.version) : '0.0.0';
  return bundle === undefined || bundle.release === '' ? version : `${version}-${bundle.release}`;
}

/** What is wrong with a channel. A default channel that does not exist has no entries, as in opm. */
function channelTree(pkg: Package, name: string): ErrorTree | undefined {
  const channel = pkg.channels.get(name);
  const entries = [...(channel?.entries ?? [])].sort((a, b) => compareText(a.name, b.name));
  return branch(`invalid channel ${goQuoted(name)}`, [
    entries.length === 0 && 'channel must contain at least one bundle',
    channel && entries.length > 0 && chainError(channel),
    ...entries.map((entry) => bundleTree(pkg, entry)),
    deprecation(pkg.deprecatedChannels.get(name)),
  ]);
}

/** What opm says of a channel without a single head, with a circle, or with stranded bundles; false if it is sound. */
function chainError(channel: Channel): Branch {
  const heads = headsOf(channel);
  const [head] = heads;
  if (!head) return 'no channel head found in graph';
  const list = (names: readonly string[]): string => [...names].sort(compareText).join(', ');
  if (heads.length > 1) {
    return `multiple channel heads found in graph: ${list(heads.map(({ name }) => name))}`;
  }
  const { cycle, stranded } = chainBelow(channel, head);
  if (cycle) return `detected cycle in replaces chain of upgrade graph: ${cycle.join(' -> ')}`;
  const names = stranded.map(({ name }) => name);
  return names.length > 0 && `channel contains one or more stranded bundles: ${list(names)}`;
}

/**
 * What is wrong with a bundle of an entry. For an entry without a bundle, opm makes up one that has no image and no
 * properties. A bundle with a release must have a name that follows from its package and version.
 */
function bundleTree(pkg: Package, entry: Entry): ErrorTree | undefined {
  const bundle = pkg.bundles.get(entry.name);
  const { name } = entry;
  const normal = bundle && bundle.release !== '' ? `${pkg.name}-v${versionText(bundle)}` : name;
  const holdsObjects = bundle?.properties.some(({ type }) => type === 'olm.bundle.object') ?? false;
  return branch(`invalid bundle ${goQuoted(name)}`, [
    name === '' && 'name must be set',
    name !== normal && `name ${goQuoted(name)} does not match normalized name ${goQuoted(normal)}`,
    ...entry.skips.map((skip, i) => skip === '' && `skip[${i}] is empty`),
    rangeError(entry.skipRange),
    bundle === undefined && 'must be exactly one property with type "olm.package"',
    (bundle?.image ?? '') === '' && !holdsObjects && 'bundle image must be set',
    deprecation(pkg.deprecatedBundles.get(name)),
    bundle !== undefined &&
      bundle.release !== '' &&
      (bundle.version?.build.length ?? 0) > 0 &&
      'cannot use build metadata in version with a release version',
  ]);
}

/** What opm says of a range that it cannot read. */
function rangeError(range: string): Branch {
  if (range === '') return undefined;
  try {
    parseRange(range);
    return undefined;
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    return `invalid skipRange ${goQuoted(range)}: ${error.message}`;
  }
}
