/**
 * Bundles put into a catalog as `opm index add` put them into its database: the edges come from
 * the bundles themselves, or from their versions.
 */
import { fieldsOf } from '../fbc/blob.ts';
import { type Blobs, catalogOf, NO_BLOBS, type Package } from '../fbc/model.ts';
import { newBlob, newDocument } from '../fbc/new-blob.ts';
import type { Finding, Location } from '../finding.ts';
import { compareText } from '../go/text.ts';
import { quoted } from '../names.ts';
import { compareVersions, type Version } from '../version/version.ts';
import { addedByReplaces, compareReleases } from './by-replaces.ts';
import { EditError } from './package.ts';
import {
  type Edges,
  graphOf,
  headOf,
  nodeOf,
  type PackageGraph,
  type PlacedBundle,
} from './package-graph.ts';

export const UPDATE_MODES = ['replaces', 'semver', 'semver-skippatch'] as const;
export type UpdateMode = (typeof UPDATE_MODES)[number];

interface Updated {
  readonly blobs: Blobs;
  /** Bundles left out, because no channel has them any more. */
  readonly findings: readonly Finding[];
}

/**
 * Adds bundles to a catalog, one package at a time.
 *
 * @throws EditError for a bundle that has no place
 */
export function addBundles(base: Blobs, bundles: readonly PlacedBundle[], mode: UpdateMode): Updated {
  const sorted = [...bundles].sort((a, b) => compareReleases(a.version, b.version));
  const findings: Finding[] = [];
  let blobs = base;
  for (const name of new Set(bundles.map(({ blob }) => blob.package))) {
    const pkg = catalogOf(base).packages.get(name);
    const added = sorted.filter(({ blob }) => blob.package === name);
    checkNew(added, pkg);
    const graph =
      mode === 'replaces'
        ? addedByReplaces(graphOf(pkg), added)
        : added.reduce((at, one) => addedByVersion(at, one, mode === 'semver-skippatch'), graphOf(pkg));
    const updated = withPackage(blobs, { name, pkg, graph, added });
    blobs = updated.blobs;
    for (const finding of updated.findings) findings.push(finding);
  }
  return { blobs, findings };
}

/**
 * The catalog of a package that is made of bundles and nothing else, whatever the order in which they
 * were added. Bundles that no channel's head leads to are left out, and one below a head that replaces what is not there is the
 * last of its channel: for both there are warnings, because each may be from long ago.
 *
 * @throws EditError for a bundle that has no place
 */
export function packageOf(bundles: readonly PlacedBundle[], mode: UpdateMode): Updated {
  const added = [...bundles].sort((a, b) => compareReleases(a.version, b.version));
  checkNew(added, undefined);
  const start = graphOf(undefined);
  const missing = new Map<PlacedBundle, EditError>();
  const graph =
    mode === 'replaces'
      ? addedByReplaces(start, added, (bundle, error) => missing.set(bundle, error))
      : added.reduce((at, one) => addedByVersion(at, one, mode === 'semver-skippatch'), start);
  const change = { name: added[0]?.blob.package ?? '', pkg: undefined, graph, added };
  const { blobs, findings } = withPackage(NO_BLOBS, change);
  return {
    blobs,
    findings: [...findings, ...Array.from(missing, ([bundle, error]) => missingFinding(bundle, error))],
  };
}

/**
 * Refuses bundles that cannot be added: one that the package has or that comes twice, and one without channels.
 *
 * @throws EditError
 */
function checkNew(added: readonly PlacedBundle[], pkg: Package | undefined): void {
  const names = new Set(pkg?.bundles.keys());
  for (const { blob, channels } of added) {
    if (names.has(blob.name)) {
      throw new EditError(`the package ${quoted(blob.package)} already has the bundle ${quoted(blob.name)}`);
    }
    names.add(blob.name);
    if (channels.length === 0) {
      throw new EditError(
        `the bundle ${quoted(blob.name)} does not list channels`,
        'add the annotation operators.operatorframework.io.bundle.channels.v1',
      );
    }
  }
}

interface Change {
  readonly name: string;
  readonly pkg: Package | undefined;
  readonly graph: PackageGraph;
  readonly added: readonly PlacedBundle[];
}

/** Replaces a package, and leaves out its bundles that no channel lists. @throws EditError */
function withPackage(blobs: Blobs, change: Change): Updated {
  const { name, graph, added } = change;
  const [first] = added;
  if (!first) return { blobs, findings: [] };
  const { defaultChannel, lanes } = graph;
  if (!lanes.has(defaultChannel)) {
    throw new EditError(
      `the default channel of the package ${quoted(name)} is ${quoted(defaultChannel)}, which does not exist`,
      `the channels are ${[...lanes.keys()].map(quoted).join(', ')}`,
    );
  }
  const place = first.blob.document.locate([]);
  const isOther = (blob: { readonly package: string }): boolean => blob.package !== name;
  const listed = new Set([...graph.lanes.values()].flatMap((lane) => lane.map((entry) => entry.name)));
  const bundles = [...blobs.bundles, ...added.map(({ blob }) => blob)];
  const isLost = (bundle: { readonly package: string; readonly name: string }): boolean =>
    bundle.package === name && !listed.has(bundle.name);
  const updated = {
    ...blobs,
    packages: [...blobs.packages.filter((pkg) => pkg.name !== name), packageBlob(change, place)],
    channels: [
      ...blobs.channels.filter(isOther),
      ...[...graph.lanes].map((lane) => channelBlob(name, lane, place)),
    ],
    bundles: bundles.filter((bundle) => !isLost(bundle)),
  };
  return { blobs: updated, findings: bundles.filter(isLost).map(unlistedFinding) };
}

/** Says that a bundle is left out, because no channel lists it any more. */
function unlistedFinding(bundle: Blobs['bundles'][number]): Finding {
  return {
    rule: 'bundle/unlisted',
    severity: 'warning',
    message: `the bundle ${quoted(bundle.name)} of the package ${quoted(bundle.package)} is left out: no version that a channel lists replaces or skips it by name`,
    location: bundle.document.locate([]),
    package: bundle.package,
    subject: bundle.name,
    hint: 'make a later version replace or skip it',
  };
}

/** Says that a bundle replaces what the package does not have. */
function missingFinding({ blob }: PlacedBundle, { message, hint }: EditError): Finding {
  return {
    rule: 'package/update-graph',
    severity: 'warning',
    message,
    location: blob.document.locate([]),
    package: blob.package,
    ...(hint === undefined ? {} : { hint }),
  };
}

/** The `olm.package` blob: the one from before with the new default channel and icon, or a new one. */
function packageBlob({ name, pkg, graph }: Change, place: Location): Blobs['packages'][number] {
  const fieldsBefore = pkg?.blob && fieldsOf(pkg.blob);
  const { icon: before, ...fields } = fieldsBefore ?? { schema: 'olm.package', name };
  const { defaultChannel } = graph;
  const icon = iconOf(graph, before);
  const decoded = newBlob({ ...fields, defaultChannel, ...(icon ? { icon } : {}) }, newDocument(place));
  if (decoded.kind !== 'package') throw new TypeError('internal error: created an invalid package');
  return decoded.blob;
}

/** The package's icon: that of the default channel's head if it was added, or else the one from before. */
function iconOf({ lanes, nodes, defaultChannel }: PackageGraph, before: unknown): unknown {
  const head = nodes.get(headOf(lanes.get(defaultChannel) ?? []) ?? '');
  return head?.placed ? head.placed.icon : before;
}

/** The `olm.channel` blob of a channel, with its entries by name. */
function channelBlob(
  pkg: string,
  [name, entries]: readonly [string, readonly Edges[]],
  place: Location,
): Blobs['channels'][number] {
  const list = [...entries]
    .sort((a, b) => compareText(a.name, b.name))
    .map(({ name: entry, replaces, skips, skipRange }) => ({
      name: entry,
      ...(replaces === '' ? {} : { replaces }),
      ...(skips.length === 0 ? {} : { skips }),
      ...(skipRange === '' ? {} : { skipRange }),
    }));
  const value = { schema: 'olm.channel', name, package: pkg, entries: list };
  const decoded = newBlob(value, newDocument(place));
  if (decoded.kind !== 'channel') throw new TypeError('internal error: created an invalid channel');
  return decoded.blob;
}

// A bundle put into a package as opm's modes `semver` and `semver-skippatch` put it: between its
// neighbours in each of its channels, by version. @see
// https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/registry/bundlegraphloader.go

/**
 * The graph of a package with a new bundle, placed by its version.
 *
 * @param skipsPatches whether the last patch of a minor version skips the others
 * @throws EditError for a version that already exists
 */
function addedByVersion(graph: PackageGraph, bundle: PlacedBundle, skipsPatches: boolean): PackageGraph {
  const nodes = new Map([...graph.nodes, [bundle.blob.name, nodeOf(bundle)]]);
  const lanes = new Map(graph.lanes);
  for (const channel of new Set(bundle.channels)) {
    lanes.set(channel, insertBetween(lanes.get(channel) ?? [], bundle, { graph, skipsPatches }));
  }
  const [first = ''] = [...bundle.channels].sort(compareText);
  const defaultChannel = bundle.defaultChannel || graph.defaultChannel || first;
  return { nodes, lanes, defaultChannel };
}

/** The channel with a new bundle between the next lower and the next higher version. */
function insertBetween(
  lane: readonly Edges[],
  { blob, version, skipRange }: PlacedBundle,
  { graph, skipsPatches }: { readonly graph: PackageGraph; readonly skipsPatches: boolean },
): Edges[] {
  const compared = lane.flatMap((entry) => {
    const node = graph.nodes.get(entry.name);
    if (!node) return [];
    if (!node.version) throw new EditError(`the version of ${quoted(entry.name)} is unknown`);
    return [{ entry, version: node.version, order: compareVersions(node.version, version) }];
  });
  const same = compared.find(({ order }) => order === 0);
  if (same) {
    throw new EditError(`${quoted(same.entry.name)} already has the version of ${quoted(blob.name)}`);
  }
  const isPatch = (other: Version): boolean =>
    skipsPatches && other.major === version.major && other.minor === version.minor;
  const sorted = compared.sort((a, b) => compareVersions(a.version, b.version));
  const lower = sorted.filter(({ order }) => order < 0);
  const higher = sorted.filter(({ order }) => order > 0);
  // The new bundle replaces `behind`. A later patch of its minor version, `newest`, skips it; if there is none, the
  // next version, `ahead`, replaces it.
  const behind = lower.findLast((other) => !isPatch(other.version))?.entry.name ?? '';
  const skips = lower.filter((other) => isPatch(other.version)).map(({ entry }) => entry.name);
  const newest = higher.findLast((other) => isPatch(other.version))?.entry;
  const ahead = newest ? undefined : higher[0]?.entry;
  return [
    ...lane.map((entry) => {
      // As in opm, the mode `semver` drops what the next version skipped.
      if (entry === ahead) return { ...entry, replaces: blob.name, skips: skipsPatches ? entry.skips : [] };
      return entry === newest ? { ...entry, skips: [...entry.skips, blob.name] } : entry;
    }),
    { name: blob.name, replaces: behind, skips, skipRange },
  ];
}
