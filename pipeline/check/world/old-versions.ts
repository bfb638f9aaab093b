/** Old versions of files on a branch, read from git's log, also in the folders that packages were moved from. */
import { isWithin } from '../../change/catalogs.ts';
import { LOG_MEMORY, runGit } from '../../git/process.ts';
import type { Repository } from '../../git/repository.ts';

/** Where a catalog, or a package of it, stands. */
export interface CatalogPath {
  readonly catalog: string;
  /** A folder or a file. */
  readonly path: string;
  /** The catalog's folder: with it, the past of what was moved within the catalog is found as well. */
  readonly root?: string;
}

/** Largest number of paths that git is asked for together. */
const MOST_PATHS = 2000;

export interface OldVersions {
  readonly versions: readonly OldVersion[];
  /** The first days of files, where they are known. */
  readonly added?: readonly AddedFile[];
  /** Why some may be missing. */
  readonly incomplete: string | undefined;
}

/** A version of a file that is gone. */
export interface OldVersion {
  readonly id: string;
  readonly path: string;
  /** The last day, `YYYY-MM-DD`. */
  readonly date: string;
  /** The catalog, where the path is none of those that were asked for. */
  readonly catalog?: string;
}

/** When a file came, `YYYY-MM-DD`. */
export interface AddedFile extends Pick<OldVersion, 'path' | 'date' | 'catalog'> {}

/** Lists what each commit of a branch changed. */
const LOG: readonly string[] = [
  ...['log', '-z', '--first-parent', '-m', '--raw', '--no-renames', '--no-abbrev'],
  '--format=%x01%H %cs %P',
];

/** How often a package is followed to the folder that it came from. */
const MOST_MOVES = 3;

/**
 * The old versions of files below some places, the latest first, and the day on which each file was added. Files that were
 * moved within their catalog are followed to earlier folders, up to `MOST_MOVES` times.
 *
 * @param commit id of the last commit that is looked at
 */
export async function oldVersions(
  repository: Repository,
  commit: string,
  places: readonly CatalogPath[],
): Promise<OldVersions> {
  const paths = [...new Set(places.map(({ path }) => path))];
  if (paths.length === 0) return { versions: [], incomplete: undefined };
  const asked = paths.slice(0, MOST_PATHS);
  const incomplete =
    asked.length < paths.length ? `the history of ${paths.length} paths is too long to read` : undefined;
  let commits = await endedVersions(repository, commit, asked);
  const versions = commits.flatMap((one) => one.versions);
  const added = commits.flatMap(filesAddedBy);
  // Each round reads the folders that the files of the round before were moved from.
  let current = places;
  const known = new Set(paths);
  for (let moves = 0; moves < MOST_MOVES; moves++) {
    const origins = await movedFrom(repository, commits.filter(mayContinueOthers), current);
    current = origins.filter(({ path }) => !known.has(path));
    if (current.length === 0) break;
    // Where one catalog is inside of another, the first of the two counts.
    const catalogs = new Map(current.toReversed().map(({ path, catalog }) => [path, { catalog }]));
    for (const path of catalogs.keys()) known.add(path);
    commits = await endedVersions(repository, commit, [...catalogs.keys()]);
    const withCatalog = <T extends AddedFile>(file: T): T => ({ ...file, ...catalogs.get(file.path) });
    versions.push(...commits.flatMap((one) => one.versions).map(withCatalog));
    added.push(...commits.flatMap(filesAddedBy).map(withCatalog));
  }
  return { versions, added, incomplete };
}

/** Whether files that a commit added may have been elsewhere before: the first commit of a branch removes none. */
function mayContinueOthers({ added, isFirst }: EndedVersions): boolean {
  return added.length > 0 && !isFirst;
}

function filesAddedBy({ added, date }: EndedVersions): AddedFile[] {
  return added.map((path) => ({ path, date }));
}

/**
 * Files of the same catalogs that commits removed while they added files at these places: their history goes on there.
 * Nothing is asked of git when no commit added any.
 */
async function movedFrom(
  { settings, scratch }: Repository,
  added: readonly EndedVersions[],
  places: readonly CatalogPath[],
): Promise<CatalogPath[]> {
  const roots = new Map(
    places.flatMap(({ catalog, root, path }) =>
      root !== undefined && added.some((part) => part.added.some((one) => isWithin(one, path)))
        ? [[root, catalog] as const]
        : [],
    ),
  );
  if (roots.size === 0) return [];
  const run = { settings, directory: scratch, bare: true, memory: LOG_MEMORY };
  const commits = added.map(({ commit }) => commit);
  const paths = roots.has('') ? [] : [...roots.keys()];
  const { output } = await runGit(run, [...LOG, '--no-walk', ...commits, '--', ...paths]);
  const gone = parseLog(output.toString('utf8')).flatMap((part) => part.gone);
  return gone.flatMap((path) =>
    [...roots].flatMap(([root, catalog]) => (isWithin(path, root) ? [{ catalog, path, root }] : [])),
  );
}

/**
 * The old versions of files that each commit of a branch ended, the latest commit first, from one log.
 *
 * @param commit id of the branch's tip
 */
export async function endedVersions(
  { settings, scratch }: Repository,
  commit: string,
  paths: readonly string[],
): Promise<EndedVersions[]> {
  const run = { settings, directory: scratch, bare: true, memory: LOG_MEMORY };
  const { output } = await runGit(run, [...LOG, commit, '--', ...paths]);
  return parseLog(output.toString('utf8'));
}

/** What was no more with a commit. */
export interface EndedVersions {
  readonly commit: string;
  /** Its day, `YYYY-MM-DD`. */
  readonly date: string;
  /** Whether the branch begins with it, or what this clone has of it. */
  readonly isFirst: boolean;
  readonly versions: readonly OldVersion[];
  /** Paths of files that were new with it, and of those that were gone. */
  readonly added: readonly string[];
  readonly gone: readonly string[];
}

/**
 * Old versions of files by the commit that ended them, the latest first, from the output that `LOG` asks for: parts that end
 * with NUL. One that begins with U+0001 is a commit; the path of a change is the part behind it.
 */
function parseLog(text: string): EndedVersions[] {
  const commits: EndedVersions[] = [];
  let [versions, added, gone]: [OldVersion[], string[], string[]] = [[], [], []];
  let date = '';
  const parts = text.split('\0');
  for (let i = 0; i < parts.length; i++) {
    const part = (parts[i] ?? '').trimStart();
    if (part.startsWith('\u0001')) {
      const [commit = '', day = '', ...parents] = part.slice(1).trim().split(' ');
      date = day;
      [versions, added, gone] = [[], [], []];
      commits.push({ commit, date, isFirst: parents.length === 0, versions, added, gone });
    } else if (part.startsWith(':')) {
      const path = parts[++i] ?? '';
      // Regular files only: links and submodules have no blobs.
      const [, id] = /^:(?:100644|100755|100664) \d+ ([0-9a-f]{40,64}) /.exec(part) ?? [];
      if (id !== undefined) versions.push({ id, path, date });
      if (/^:0{6} .* A$/.test(part)) added.push(path);
      if (/^:\d+ 0{6} .* D$/.test(part)) gone.push(path);
    }
  }
  return commits;
}
