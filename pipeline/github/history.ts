/**
 * Old versions of catalogs, for a fetch without history: GitHub says which commits changed a
 * path; their trees are fetched level by level, all commits together, and nothing else of them.
 */
import { compareText } from '../../catalog/finding.ts';
import type { CatalogPath, OldVersion, OldVersions } from '../check/published.ts';
import type { ObjectReader } from '../git/objects.ts';
import { entryAt, isTree, joinPath, listFiles } from '../git/tree.ts';
import { answerIfAny, type GitHub, type RepositoryName } from './client.ts';

/** Paths that are asked for, and commits that changed one of them, the latest first. */
const MOST_PATHS = 30;
const MOST_COMMITS = 60;

export interface HistoryPorts {
  readonly github: GitHub;
  readonly repository: RepositoryName;
  readonly objects: ObjectReader;
}

/**
 * Versions that the files of catalogs had before a commit, and with it, the latest first.
 *
 * @throws PipelineError as the client and the fetching do
 */
export async function readOldVersions(
  ports: HistoryPorts,
  commit: string,
  places: readonly CatalogPath[],
): Promise<OldVersions> {
  const paths = [...new Set(places.map(({ path }) => path))].sort(compareText);
  const asked = paths.slice(0, MOST_PATHS);
  const pasts = await Promise.all(asked.map((path) => pastOf(ports, commit, path)));
  const versions = pasts.flatMap((past) => past.versions).sort((a, b) => compareText(b.date, a.date));
  const cut = asked.length < paths.length || pasts.some(({ complete }) => !complete);
  const incomplete = cut
    ? `of the past of ${paths.length} folders the last ${MOST_COMMITS} changes of ${asked.length} were read`
    : undefined;
  return { versions, incomplete };
}

interface PathPast {
  readonly versions: readonly OldVersion[];
  readonly complete: boolean;
}

async function pastOf(
  { github, repository, objects }: HistoryPorts,
  commit: string,
  path: string,
): Promise<PathPast> {
  const listed = await answerIfAny(
    github.request('GET /repos/{owner}/{repo}/commits', {
      ...repository,
      sha: commit,
      path,
      per_page: MOST_COMMITS,
    }),
  );
  if (!listed) return { versions: [], complete: false };
  const dates = listed.map(({ commit: { committer } }) => (committer?.date ?? '').slice(0, 10));
  const states = await Promise.all(listed.map(({ sha }) => filesAt(objects, sha, path)));
  // What a change left was there until the next change, which stands before it in the list.
  const versions = states.flatMap((files, i) => {
    const date = dates[i - 1];
    return date === undefined ? [] : files.map((file) => ({ ...file, date }));
  });
  return { versions, complete: listed.length < MOST_COMMITS };
}

async function filesAt(
  objects: ObjectReader,
  commit: string,
  path: string,
): Promise<{ readonly id: string; readonly path: string }[]> {
  const entry = await entryAt(objects, await objects.treeOf(commit), path);
  if (!entry) return [];
  if (!isTree(entry.mode)) return [{ id: entry.id, path }];
  const files = await listFiles(objects, entry.id);
  return files
    .filter(({ mode }) => /^100/.test(mode))
    .map((file) => ({ id: file.id, path: joinPath(path, file.path) }));
}
