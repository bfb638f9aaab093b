/**
 * What OLM v1 does with many installations of one package, one after the other: what each
 * catalog offers is prepared once, so that no installation costs a look at every entry.
 */
import { firstAlike, headsOf, selectedIn } from '../../fbc/channel.ts';
import type { Installed } from '../../fbc/edge.ts';
import { edgeField } from '../../fbc/edge.ts';
import type { Channel, Entry, Package } from '../../fbc/model.ts';
import { onceFor } from '../../go/once.ts';
import { meets, type VersionConstraint } from '../../version/constraint.ts';
import {
  absentFollower,
  type Candidate,
  type CatalogCandidates,
  chooseCandidate,
  compareCandidates,
  type Extension,
  noChoiceText,
  outcomeOf,
  type Query,
  readQuery,
  stayReason,
} from './extension.ts';
import { type FirstFollower, firstFollower, followersOf } from './followers.ts';
import type { Outcome, PlacedOutcome } from './outcome.ts';
import { storedVersion, versionReleaseKey, versionReleaseOf, withRelease } from './release.ts';
import type { Scope, ScopeCatalog } from './snapshot.ts';

/** The selection of an extension: a package, and all or some of its channels. */
export interface Selection {
  readonly package: string;
  /** Empty for all channels. */
  readonly channels: readonly string[];
}

/** The next bundle of each installation of a selection under OLM v1. */
export function nextV1(source: ScopeCatalog, selection: Selection): (installed: Installed) => Outcome {
  const ofPackage = source.catalog.packages.get(selection.package);
  const index = ofPackage && indexOf(ofPackage, selection.channels);
  return (installed) => {
    const best = index && bestOf(index, installed);
    if (!best) {
      const text = noChoiceText({ ...selection, version: '', installed: storedOf(installed) }, []);
      return { kind: 'fails', reason: { code: 'no-bundle', text } };
    }
    return outcomeOf(best, {
      installed: installed.name,
      why: () =>
        stayReason(best, {
          all: () => allOf(index, installed),
          isHead: (name) => index.heads.has(name),
          absent: () => absentFollower(ofPackage, selection.channels, installed),
        }),
    });
  };
}

/** The request of an extension: a package, its channels, and a range of versions or empty. */
export interface ExtensionSpec extends Selection {
  readonly range: string;
}

/**
 * The next bundle of an extension that may take it from any catalog of a scope.
 *
 * @param installed undefined for a new extension
 * @returns the outcome of `resolveExtension`
 */
export function nextOfExtension(
  scope: Scope,
  spec: ExtensionSpec,
  installed: Installed | undefined,
): PlacedOutcome {
  const extension: Extension = {
    package: spec.package,
    version: spec.range,
    channels: spec.channels,
    policy: 'CatalogProvided',
    installed: installed && storedOf(installed),
  };
  const query = readQuery(extension);
  if ('kind' in query) return query;
  const lists = scope.catalogs.map((source) => offersOf(source, query, installed));
  return chooseCandidate(scope.catalogs, lists, extension).outcome;
}

function storedOf({ name, version }: Installed): { name: string; version: string } {
  return { name, version: version ? storedVersion(withRelease(version)) : '' };
}

/** The bundles that one catalog offers an extension: to install, or to upgrade to from what is installed. */
function offersOf(
  source: ScopeCatalog,
  { extension, constraint }: Query,
  installed: Installed | undefined,
): CatalogCandidates<Ranked> {
  const ofPackage = source.serving ? source.catalog.packages.get(extension.package) : undefined;
  if (!ofPackage) return { source, best: undefined, all: () => [] };
  const index = indexOf(ofPackage, extension.channels, { range: extension.version, constraint });
  if (installed) return { source, best: bestOf(index, installed), all: () => allOf(index, installed) };
  const [first] = index.ranked;
  return { source, best: first && { ...first, edge: 'none' }, all: () => index.ranked };
}

type Ranked = Omit<Candidate, 'edge'>;

interface Index {
  /** Every bundle of the selected channels in the range, the best first. */
  readonly ranked: readonly Ranked[];
  /** Entries in the order of their bundles, with the positions of these. */
  readonly entries: readonly { readonly entry: Entry; readonly rank: number }[];
  /** The lists of the channels that they are from. */
  readonly lists: readonly (readonly Entry[])[];
  /** Position in `entries` of the best one that follows an installation, or -1. */
  readonly first: FirstFollower;
  /** Positions by version and release. */
  readonly byVersion: ReadonlyMap<string, number>;
  readonly heads: ReadonlySet<string>;
}

const indexes = new WeakMap<Package, Map<string, Index>>();

/** A range of versions as it is written, which names it, and as it is read. */
interface AskedRange {
  readonly range: string;
  readonly constraint: VersionConstraint | undefined;
}

const ANY_VERSION: AskedRange = { range: '', constraint: undefined };

/** The index of the bundles in some channels and a range, made once for the package. */
function indexOf(ofPackage: Package, channels: readonly string[], asked = ANY_VERSION): Index {
  const known = indexes.get(ofPackage) ?? new Map<string, Index>();
  indexes.set(ofPackage, known);
  const [only] = channels;
  // Channels with the same entries offer the same, so they share the index of the first of them.
  const indexed = only !== undefined && channels.length === 1 ? [firstAlike(ofPackage, only)] : channels;
  const key = JSON.stringify([indexed, asked.range]);
  const found = known.get(key) ?? makeIndex(ofPackage, indexed, asked.constraint);
  known.set(key, found);
  return found;
}

/**
 * The bundles that OLM v1 may choose from with these channels and this constraint, the best first, and the entries that
 * lead to them.
 */
function makeIndex(
  ofPackage: Package,
  names: readonly string[],
  constraint: VersionConstraint | undefined,
): Index {
  const channels = selectedIn(ofPackage, names);
  const all = rankedIn(ofPackage);
  const ranked = (names.length === 0 ? all.ranked : listedIn(all, channels)).filter(
    ({ versionRelease }) =>
      !constraint || (versionRelease !== undefined && meets(versionRelease.version, constraint)),
  );
  const ranks = new Map(ranked.map(({ bundle }, rank) => [bundle.name, rank]));
  const entries = channels
    .flatMap((channel) => channel.entries.map((entry) => ({ entry, rank: ranks.get(entry.name) ?? -1 })))
    .filter(({ rank }) => rank >= 0)
    .sort((a, b) => a.rank - b.rank);
  const byVersion = new Map<string, number>();
  for (const [rank, { versionRelease }] of ranked.entries()) {
    const key = versionRelease && versionReleaseKey(versionRelease);
    if (key !== undefined && !byVersion.has(key)) byVersion.set(key, rank);
  }
  const heads = new Set(channels.flatMap(headsOf).map(({ name }) => name));
  const lists = channels.map((channel) => channel.entries);
  const first = firstFollower(
    entries.map(({ entry }) => entry),
    lists,
  );
  return { ranked, entries, lists, first, byVersion, heads };
}

interface Ranking {
  readonly ranked: readonly Ranked[];
  readonly positions: ReadonlyMap<string, number>;
}

/** All bundles of a package, the best first. */
const rankedIn = onceFor((ofPackage: Package): Ranking => {
  const ranked = [...ofPackage.bundles.values()]
    .map((bundle) => ({
      bundle,
      versionRelease: versionReleaseOf(bundle),
      deprecated: ofPackage.deprecatedBundles.has(bundle.name),
      edge: 'none' as const,
    }))
    .sort(compareCandidates);
  return { ranked, positions: new Map(ranked.map(({ bundle }, position) => [bundle.name, position])) };
});

/** The bundles that channels list. */
function listedIn({ ranked, positions }: Ranking, channels: readonly Channel[]): Ranked[] {
  const listed = new Set<number>();
  for (const { entries } of channels) {
    for (const { name } of entries) {
      const position = positions.get(name);
      if (position !== undefined) listed.add(position);
    }
  }
  // A typed array sorts by number, not by text.
  return [...Int32Array.from(listed).sort()].flatMap((position) => ranked[position] ?? []);
}

/** The highest of the bundles that follow an installed one; OLM v1 also accepts the installed version itself. */
function bestOf(index: Index, installed: Installed): Candidate | undefined {
  const follower = index.entries[index.first(installed)];
  const { version } = installed;
  const same = version && index.byVersion.get(versionReleaseKey(withRelease(version)));
  const ranks = [follower?.rank, same].filter((rank) => rank !== undefined);
  // Rank 0 is the best.
  const best = ranks.length > 0 ? index.ranked[Math.min(...ranks)] : undefined;
  if (!best) return undefined;
  const isFollower = follower !== undefined && index.ranked[follower.rank] === best;
  return { ...best, edge: (isFollower && edgeField(follower.entry, installed)) || 'version' };
}

/** All followers, prepared when somebody asks for them. */
const allFollowers = onceFor(({ entries, lists }: Index) =>
  followersOf(
    entries.map(({ entry }) => entry),
    lists,
  ),
);

/** Every bundle that the selection allows, to say why none of them was taken. */
function allOf(index: Index, installed: Installed): Ranked[] {
  const { ranked, entries, byVersion } = index;
  const followers = allFollowers(index)(installed).flatMap((position) => entries[position]?.rank ?? []);
  const key = installed.version && versionReleaseKey(withRelease(installed.version));
  const same = key === undefined ? undefined : byVersion.get(key);
  const ranks = new Set([...followers, ...(same === undefined ? [] : [same])]);
  return [...ranks].sort((a, b) => a - b).flatMap((rank) => ranked[rank] ?? []);
}
