/** Which pull requests a push to their base branch concerns. */
import { MAY_BE_CATALOG, pathPlacer } from '../change/path.ts';
import { PipelineError } from '../error.ts';
import type { ObjectReader } from '../git/objects.ts';
import { openRemote } from '../git/remote.ts';
import type { Repository } from '../git/repository.ts';
import { diffTrees, entryAt } from '../git/tree.ts';
import type { Policy } from '../policy/policy.ts';
import { isDockerfile } from '../policy/setup/build-files.ts';
import { type ForgePorts, governingPolicy } from './gate.ts';
import type { Head } from './head.ts';

interface Moved {
  readonly branch: string;
  /** Ids of the commits that the branch was moved from and to; undefined where that is not known. */
  readonly before: string | undefined;
  readonly after: string;
}

/** Changed files beyond which a push concerns every pull request. */
const MOST_CHANGES = 300;

/**
 * The heads whose result may be another one after a push. A change of a catalog, a bundle, the policy or an owner concerns all:
 * a check knows whole catalogs. So does one of a file that a check may read. All others concern those that change the same files.
 */
export async function concernedHeads(
  ports: Pick<ForgePorts, 'remote' | 'git'>,
  heads: readonly Head[],
  { branch, before, after }: Moved,
): Promise<readonly Head[]> {
  if (before === undefined || heads.length === 0) return heads;
  const repository = openRemote(ports.remote, ports.git);
  try {
    const paths = await otherPaths(repository, { branch, before, after });
    // The push changes catalogs or the policy, or is too large to list: every result may be another one.
    if (!paths) return heads;
    await repository.bring(heads.map(({ commit }) => commit));
    const isConcerned = await Promise.all(
      heads.map(({ commit }) => pathsDiffer(repository.objects, { before, commit }, paths)),
    );
    return heads.filter((_, i) => isConcerned[i]);
  } catch (error) {
    // A commit that nothing names any more may be gone. What cannot be compared concerns all.
    if (error instanceof PipelineError) return heads;
    throw error;
  } finally {
    await repository.close();
  }
}

/** The files that a push changes, if no check reads any of them; undefined if one does, or if that is not known. */
async function otherPaths(
  repository: Repository,
  { branch, before, after }: Moved & { readonly before: string },
): Promise<readonly string[] | undefined> {
  await repository.bring([before, after]);
  const { changes, complete } = await diffTrees(repository.objects, { before, after }, MOST_CHANGES);
  const policy = await governingPolicy(repository, after, branch);
  if (policy === undefined || policy === 'not gated' || !complete) return undefined;
  const placed = pathPlacer(policy);
  const isOther = (path: string): boolean =>
    ['root', 'unknown'].includes(placed(path).area) && !mayBeRead(path, policy);
  const paths = changes.map(({ path }) => path);
  return paths.every(isOther) ? paths : undefined;
}

/**
 * Whether the check of another file may read a file that is nobody's: settings of other gates, a catalog outside the layout, and
 * how an image is built. What the policy names is of the repository.
 */
function mayBeRead(path: string, { layout }: Policy): boolean {
  return MAY_BE_CATALOG.test(path) || isDockerfile(path) || layout.serves(path);
}

/** Whether a commit has other content at one of the paths than the base branch had before the push. */
async function pathsDiffer(
  objects: ObjectReader,
  { before, commit }: { readonly before: string; readonly commit: string },
  paths: readonly string[],
): Promise<boolean> {
  for (const path of paths) {
    const [old, own] = [await entryAt(objects, before, path), await entryAt(objects, commit, path)];
    if (old?.id !== own?.id) return true;
  }
  return false;
}
