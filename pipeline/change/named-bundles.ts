/** Bundle directories that no pattern of the layout names, such as `bundle/` in the source of an operator: their files say what they are. */
import { appendToGroup } from '../../catalog/go/grouped.ts';
import { compareText } from '../../catalog/go/text.ts';
import type { ObjectReader } from '../git/objects.ts';
import { whyUnreadable } from '../git/source.ts';
import { entryAt } from '../git/tree.ts';
import { packageIn } from '../policy/setup/bundle-folders.ts';
import { isUnshipped } from '../policy/setup/unshipped.ts';
import type { ChangedPath, Trees } from './classification-input.ts';

interface NamedBundle {
  readonly path: string;
  /** Its files among the changed ones. */
  readonly paths: readonly string[];
  /** The package that its annotations name, before and after the change. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The bundle directories outside the layout that a change touches, in the order of their paths. */
export async function namedBundles(
  objects: ObjectReader,
  trees: Trees,
  changed: readonly ChangedPath[],
): Promise<NamedBundle[]> {
  const folders = new Map<string, string[]>();
  for (const { area, path } of changed) {
    const [, folder] = /^(.+)\/(?:manifests|metadata)\/[^/]+$/.exec(path) ?? [];
    if (folder === undefined || (area !== 'unknown' && area !== 'root') || isUnshipped(path)) continue;
    appendToGroup(folders, folder, path);
  }
  const found: NamedBundle[] = [];
  for (const [path, paths] of [...folders].sort(([a], [b]) => compareText(a, b))) {
    const before = await packageNamed(objects, trees.base, path);
    const after = await packageNamed(objects, trees.merged, path);
    if (before !== undefined || after !== undefined) found.push({ path, paths, before, after });
  }
  return found;
}

/** The package that the annotations in a folder name. */
async function packageNamed(objects: ObjectReader, tree: string, path: string): Promise<string | undefined> {
  const entry = await entryAt(objects, tree, `${path}/metadata/annotations.yaml`);
  if (!entry || whyUnreadable(entry.mode) !== undefined) return undefined;
  return packageIn(objects, { ...entry, path: `${path}/metadata/annotations.yaml` });
}
