/** Of several layouts that hold at a commit, the one that the merges before it speak for. */
import { PipelineError } from '../../error.ts';
import { mergedCommits } from '../../git/merged-commits.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { whyUnreadable } from '../../git/source.ts';
import { diffTrees, type TreeFile } from '../../git/tree.ts';
import { factsOfFile } from './catalog-files.ts';
import { catalogNamer } from './catalog-names.ts';
import type { FoundLayout } from './layout.ts';
import { FORMAT } from './shapes.ts';

/** The last merges that are looked at, and how many changed files of each. Most merges change a few. */
const MOST_MERGES = 100;
const MOST_FILES = 500;

/** Files that are read: so many are enough to tell two layouts apart, and cost a moment. */
const MOST_READ = 60;

/** The layout under which the files of the last merges are catalogs, and nothing else is; the first of equals. */
export async function preferredLayout(
  layouts: readonly [FoundLayout, ...FoundLayout[]],
  { repository, commit }: { readonly repository: Repository; readonly commit: string },
): Promise<FoundLayout> {
  const namers = layouts.map(({ patterns }) => catalogNamer(patterns));
  const seen = new Map<string, TreeFile>();
  for (const { id, before } of (await mergedCommits(repository, commit, [])).slice(-MOST_MERGES)) {
    for (const { path, file } of await changedFiles(repository, { before, after: id })) {
      const names = new Set(namers.map((nameOf) => nameOf(path)));
      // Only a path on which the layouts differ tells which of them is right.
      if (names.size > 1 && seen.size < MOST_READ) seen.set(path, file);
    }
  }
  const wrong = layouts.map(() => 0);
  for (const [path, file] of seen) {
    const isCatalog = await holdsBlobs(repository.objects, file);
    if (isCatalog === undefined) continue;
    for (const [i, nameOf] of namers.entries())
      if ((nameOf(path) !== undefined) !== isCatalog) wrong[i] = (wrong[i] ?? 0) + 1;
  }
  const least = wrong.indexOf(Math.min(...wrong));
  return layouts[least] ?? layouts[0];
}

/** The files that a merge changed which may be catalogs; none of a merge that cannot be compared. */
async function changedFiles(
  { objects }: Repository,
  trees: { readonly before: string; readonly after: string },
): Promise<{ readonly path: string; readonly file: TreeFile }[]> {
  try {
    const { changes } = await diffTrees(objects, trees, MOST_FILES);
    return changes.flatMap(({ path, before, after }) => {
      const file = after ?? before;
      return file && FORMAT.test(path) && whyUnreadable(file.mode) === undefined ? [{ path, file }] : [];
    });
  } catch (error) {
    // In a partial clone the trees of old merges may be missing, or a merge changes too many folders: others tell as much.
    if (error instanceof PipelineError) return [];
    throw error;
  }
}

/** Whether a file is of a catalog; undefined where a partial clone lacks it. */
async function holdsBlobs(objects: ObjectReader, { id }: TreeFile): Promise<boolean | undefined> {
  try {
    const found = await factsOfFile(objects, id);
    // A file with inputs is a template: catalogs are made of it.
    return found !== undefined && !('inputs' in found);
  } catch (error) {
    if (error instanceof PipelineError) return undefined;
    throw error;
  }
}
