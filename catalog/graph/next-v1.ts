/**
 * What OLM v1 does with one extension that takes its bundles from one catalog and asks
 * for no version: the common case, prepared once for each package.
 */
import type { Entry, Package } from '../model.ts';
import { headsOf } from './channel.ts';
import type { Installed } from './edge.ts';
import { edgeField } from './edge.ts';
import { type Candidate, compareCandidates, noChoiceText, outcomeOf } from './extension.ts';
import { type FirstFollower, firstFollower } from './followers.ts';
import type { Outcome } from './outcome.ts';
import { storedVersion, versionReleaseKey, versionReleaseOf, withRelease } from './release.ts';
import type { ScopeCatalog } from './snapshot.ts';

/** What an extension selects: a package, all its channels or some. */
export interface Selection {
  readonly package: string;
  /** None for all. */
  readonly channels: readonly string[];
}

/** The next bundle of an installation under OLM v1. */
export function nextV1(
  source: ScopeCatalog,
  { selection, installed }: { selection: Selection; installed: Installed },
): Outcome {
  const ofPackage = source.catalog.packages.get(selection.package);
  const index = ofPackage && indexOf(ofPackage, selection.channels);
  const best = index && bestOf(index, installed);
  const stored = {
    name: installed.name,
    version: installed.version ? storedVersion(withRelease(installed.version)) : '',
  };
  if (!best) {
    const text = noChoiceText({ ...selection, version: '', installed: stored }, []);
    return { kind: 'fails', reason: { code: 'no-bundle', text } };
  }
  return outcomeOf(best, {
    catalog: source.name,
    all: () => allOf(index, installed),
    isHead: (name) => index.heads.has(name),
    extension: { installed: stored },
  });
}

interface Index {
  /** Every bundle of the selected channels, the best first. */
  readonly ranked: readonly Omit<Candidate, 'edge'>[];
  /** Entries in the order of their bundles, with the positions of these. */
  readonly entries: readonly { readonly entry: Entry; readonly rank: number }[];
  readonly first: FirstFollower;
  /** Positions by version and release. */
  readonly byVersion: ReadonlyMap<string, number>;
  readonly heads: ReadonlySet<string>;
}

const indexes = new WeakMap<Package, Map<string, Index>>();

function indexOf(ofPackage: Package, channels: readonly string[]): Index {
  const known = indexes.get(ofPackage) ?? new Map<string, Index>();
  indexes.set(ofPackage, known);
  const key = JSON.stringify(channels);
  const found = known.get(key) ?? makeIndex(ofPackage, channels);
  known.set(key, found);
  return found;
}

function makeIndex(ofPackage: Package, names: readonly string[]): Index {
  const channels = [...ofPackage.channels.values()].filter(
    ({ name }) => names.length === 0 || names.includes(name),
  );
  const listed = new Set(channels.flatMap(({ entries }) => entries.map(({ name }) => name)));
  const ranked = [...ofPackage.bundles.values()]
    .filter(({ name }) => names.length === 0 || listed.has(name))
    .map((bundle) => ({
      bundle,
      versionRelease: versionReleaseOf(bundle),
      deprecated: ofPackage.deprecatedBundles.has(bundle.name),
    }))
    .sort((a, b) => compareCandidates({ ...a, edge: 'none' }, { ...b, edge: 'none' }));
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
  return { ranked, entries, first: firstFollower(entries.map(({ entry }) => entry)), byVersion, heads };
}

function bestOf(index: Index, installed: Installed): Candidate | undefined {
  const follower = index.entries[index.first(installed)];
  const { version } = installed;
  const same = version && index.byVersion.get(versionReleaseKey(withRelease(version)));
  const ranks = [follower?.rank, same].filter((rank) => rank !== undefined);
  const best = ranks.length > 0 ? index.ranked[Math.min(...ranks)] : undefined;
  if (!best) return undefined;
  const isFollower = follower !== undefined && index.ranked[follower.rank] === best;
  return { ...best, edge: (isFollower && edgeField(follower.entry, installed)) || 'version' };
}

/** Every bundle that could be taken, for saying why none of the others was. */
function allOf({ ranked, entries, byVersion }: Index, installed: Installed): Omit<Candidate, 'edge'>[] {
  const followers = entries.filter(({ entry }) => edgeField(entry, installed)).map(({ rank }) => rank);
  const key = installed.version && versionReleaseKey(withRelease(installed.version));
  const same = key === undefined ? undefined : byVersion.get(key);
  return [...new Set([...followers, ...(same === undefined ? [] : [same])])].flatMap(
    (rank) => ranked[rank] ?? [],
  );
}
