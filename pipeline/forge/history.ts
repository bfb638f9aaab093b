/**
 * Old versions of catalogs, for a fetch without history: the forge says which commits changed a
 * path; their trees are fetched level by level, all of them together, and nothing else.
 */
import { compareText } from '../../catalog/go/text.ts';
import type { OldVersion } from '../check/world/old-versions.ts';
import type { HistoryOf } from '../check/world/publication-history.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { Repository } from '../git/repository.ts';
import { whyUnreadable } from '../git/source.ts';
import { entryAt, filesBelow } from '../git/tree.ts';
import type { GateForge, PathChanges } from './forge.ts';

/** Paths that are asked for, and commits that changed one of them, the latest first. */
const MOST_PATHS = 30;
const MOST_COMMITS = 60;

interface HistoryPorts {
  readonly forge: Pick<GateForge, 'readPathChanges' | 'expectPathChanges'>;
  readonly git: Repository;
}

/** The past of a commit. */
export interface History {
  /** Says what will most likely be wanted. */
  prime(paths: readonly string[]): void;
  /**
   * Versions that the files of catalogs had before the commit, and with it, the latest first.
   *
   * @throws PipelineError as the client and the fetching do
   */
  readonly of: HistoryOf;
}

/** Reads earlier versions of paths from the forge, for clones without a history. Each path is listed once. */
export function openHistory(ports: HistoryPorts, commit: string): History {
  const asked = new Map<string, Promise<PathChanges | undefined>>();
  const listingOf = (path: string): Promise<PathChanges | undefined> => {
    const listing = asked.get(path) ?? ports.forge.readPathChanges(commit, path, MOST_COMMITS);
    asked.set(path, listing);
    return listing;
  };
  return {
    prime: (paths) => {
      const likely = paths.slice(0, MOST_PATHS);
      if (ports.forge.expectPathChanges) ports.forge.expectPathChanges(commit, likely, MOST_COMMITS);
      // A failure is reported when the path is read.
      else for (const path of likely) listingOf(path).catch(() => undefined);
    },
    of: async (places) => {
      const paths = [...new Set(places.map(({ path }) => path))].sort(compareText);
      const within = paths.slice(0, MOST_PATHS);
      const changes = await Promise.all(within.map(listingOf));
      const listings = await Promise.all(changes.map((one) => one && withTrees(ports.git.objects, one)));
      await bringFolders(ports.git, within, listings);
      const pasts = await Promise.all(within.map((path, i) => pastOf(ports.git.objects, path, listings[i])));
      const versions = pasts.flatMap((past) => past.versions).sort((a, b) => compareText(b.date, a.date));
      const cut = within.length < paths.length || pasts.some(({ complete }) => !complete);
      const incomplete = cut
        ? `only the last ${MOST_COMMITS} changes of ${within.length} of ${paths.length} folders were read`
        : undefined;
      return { versions, incomplete };
    },
  };
}

/** States in which changes left a path, the latest first. */
type Listing = readonly { readonly tree: string; readonly date: string }[];

/** Each change with its tree. Forgejo names the commit only, so it is read from that: a clone has the history there. */
function withTrees(objects: ObjectReader, changes: PathChanges): Promise<Listing> {
  return Promise.all(
    changes.map(async ({ commit, tree, date }) => ({ tree: tree ?? (await objects.treeOf(commit)), date })),
  );
}

/** Levels of folders that are brought with a root: further down there are thousands of them. */
const MOST_LEVELS = 3;

/** Brings the roots of all states, and what leads to the paths, in one request. */
async function bringFolders(
  git: Repository,
  paths: readonly string[],
  listings: readonly (Listing | undefined)[],
): Promise<void> {
  const roots = [...new Set(listings.flatMap((listing) => listing?.map(({ tree }) => tree) ?? []))];
  const levels = Math.max(0, ...paths.map((path) => path.split('/').length));
  await git.bringTrees(roots, Math.min(MOST_LEVELS, levels));
}

interface PathPast {
  readonly versions: readonly OldVersion[];
  readonly complete: boolean;
}

/** The versions of a path that later changes replaced; incomplete if the forge may not have listed all changes. */
async function pastOf(objects: ObjectReader, path: string, listing: Listing | undefined): Promise<PathPast> {
  if (!listing) return { versions: [], complete: false };
  const states = await Promise.all(listing.map(({ tree }) => filesAt(objects, tree, path)));
  // The result of a change was valid until the next change, which comes before it in the list; that of the last one still is.
  const versions = states.flatMap((files, i) => {
    const date = listing[i - 1]?.date;
    return date === undefined ? [] : files.map((file) => ({ ...file, date }));
  });
  return { versions, complete: listing.length < MOST_COMMITS };
}

/** The files at or below a path of a tree, without links and submodules. */
async function filesAt(
  objects: ObjectReader,
  root: string,
  path: string,
): Promise<{ readonly id: string; readonly path: string }[]> {
  const entry = await entryAt(objects, root, path);
  const files = entry ? await filesBelow(objects, { path, ...entry }) : [];
  return files.flatMap((file) =>
    whyUnreadable(file.mode) === undefined ? [{ id: file.id, path: file.path }] : [],
  );
}
