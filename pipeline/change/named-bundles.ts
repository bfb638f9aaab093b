/** Bundle directories that no pattern of the layout names, such as `bundle/` in the source of an operator: their files say what they are. */
import { appendToGroup } from '../../catalog/go/grouped.ts';
import { compareText } from '../../catalog/go/text.ts';
import type { ObjectReader } from '../git/objects.ts';
import { isUnshipped } from '../policy/setup/unshipped.ts';
import type { ChangedPath, Trees } from './classification-input.ts';
import { packageOfFolder } from './foreign-blobs.ts';
import { isOutsideLayout } from './path.ts';

interface NamedBundle {
  readonly path: string;
  /** Its files among the changed ones. */
  readonly paths: readonly string[];
  /** The package that its annotations name, before and after the change. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

interface BundleSearch {
  readonly trees: Trees;
  /** Paths that change. */
  readonly paths: readonly ChangedPath[];
  /** Most bytes of a file that is read. */
  readonly most: number;
}

/** The bundle directories outside the layout that a change touches, in the order of their paths. */
export async function namedBundles(
  objects: ObjectReader,
  { trees, paths: changed, most }: BundleSearch,
): Promise<NamedBundle[]> {
  const folders = new Map<string, string[]>();
  for (const one of changed) {
    const { path } = one;
    const [, folder] = /^(.+)\/(?:manifests|metadata)\/[^/]+$/.exec(path) ?? [];
    if (folder === undefined || !isOutsideLayout(one) || isUnshipped(path)) continue;
    appendToGroup(folders, folder, path);
  }
  const found: NamedBundle[] = [];
  for (const [path, paths] of [...folders].sort(([a], [b]) => compareText(a, b))) {
    const named = async (tree: string): Promise<string | undefined> =>
      (await packageOfFolder(objects, tree, { folder: path, most }))?.name;
    const [before, after] = [await named(trees.base), await named(trees.merged)];
    if (before !== undefined || after !== undefined) found.push({ path, paths, before, after });
  }
  return found;
}
