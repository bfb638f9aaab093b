/**
 * Whether merged bundles still change: where another pipeline releases them, a bot replaces the image of the newest
 * bundle until then. Told from the past of the branch.
 */
import { load } from '../../../catalog/fbc/load.ts';
import { PipelineError } from '../../error.ts';
import { mergedCommits } from '../../git/merged-commits.ts';
import type { Repository } from '../../git/repository.ts';
import { whyUnreadable } from '../../git/source.ts';
import { diffTrees, type PathChange, type TreeFile } from '../../git/tree.ts';
import { compileLayout } from '../layout.ts';
import type { WrittenPattern } from '../policy-file.ts';

export interface RebuiltBundles {
  /** Merges that replaced the image of a bundle which the catalog had before. */
  readonly merges: number;
  /** Merges that were looked at, the latest. */
  readonly of: number;
}

const NONE: RebuiltBundles = { merges: 0, of: 0 };

/** Most merges that are looked at, and how many with a replaced image are enough to say that it is usual. */
const MOST_MERGES = 60;
const ENOUGH = 3;
/** Changed files that are looked for in a merge, those of them that are compared, and the largest. */
const MOST_FILES = 120;
const MOST_OF_MERGE = 2;
const MOST_FILE_BYTES = 16 * 1024 * 1024;

/** Pipelines of Konflux, which build what is merged and release it later. */
const PIPELINES = /^\.tekton\/.+\.ya?ml$/;

/** Counts them where the repository has pipelines that release later; elsewhere a merge publishes. */
export async function rebuiltBundles(
  repository: Repository,
  commit: string,
  { paths, patterns }: { readonly paths: readonly string[]; readonly patterns: readonly WrittenPattern[] },
): Promise<RebuiltBundles> {
  if (patterns.length === 0 || !paths.some((path) => PIPELINES.test(path))) return NONE;
  const layout = compileLayout(
    patterns.map((one) => ({ kind: 'catalog', pattern: typeof one === 'string' ? one : one.path })),
  );
  // The latest first.
  const commits = (await mergedCommits(repository, commit, [])).slice(-MOST_MERGES).reverse();
  let [merges, of] = [0, 0];
  for (const { id, before } of commits) {
    if (merges >= ENOUGH) break;
    of++;
    const changes = await changedFiles(repository, { before, after: id });
    const catalogs = changes.filter(({ path }) => layout.match(path) !== undefined).slice(0, MOST_OF_MERGE);
    if (await replacesAnImage(repository, catalogs)) merges++;
  }
  return { merges, of };
}

/** Files that both trees have with other content. None if the clone lacks a tree. */
async function changedFiles(
  { objects }: Repository,
  trees: { readonly before: string; readonly after: string },
): Promise<PathChange[]> {
  try {
    const { changes } = await diffTrees(objects, trees, MOST_FILES);
    return changes.filter(({ before, after }) => before && after && before.id !== after.id);
  } catch (error) {
    return notThere(error, []);
  }
}

/** Whether a file has another image for a bundle that it had before. */
async function replacesAnImage(repository: Repository, changes: readonly PathChange[]): Promise<boolean> {
  for (const { before, after } of changes) {
    const old = await imagesIn(repository, before);
    for (const [name, image] of await imagesIn(repository, after)) {
      const known = old.get(name);
      if (known !== undefined && known !== image) return true;
    }
  }
  return false;
}

/** The images of a file's bundles, by package and name. */
async function imagesIn({ objects }: Repository, file: TreeFile | undefined): Promise<Map<string, string>> {
  if (!file || whyUnreadable(file.mode) !== undefined) return new Map();
  try {
    const { bytes } = await objects.read(file.id, MOST_FILE_BYTES);
    const { blobs } = await load({ files: () => Promise.resolve([{ path: 'file', read: () => bytes }]) });
    return new Map(
      blobs.bundles.map(({ package: packageName, name, image }) => [
        JSON.stringify([packageName, name]),
        image,
      ]),
    );
  } catch (error) {
    return notThere(error, new Map());
  }
}

/** What a shallow or partial clone lacks says nothing. */
function notThere<T>(error: unknown, otherwise: T): T {
  if (error instanceof PipelineError) return otherwise;
  throw error;
}
