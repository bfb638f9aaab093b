/** Bundle directories that commits have brought. */
import { compareText } from '../../../catalog/go/text.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { diffTrees, entryAt, isTree } from '../../git/tree.ts';
import type { Policy } from '../../policy/policy.ts';
import { type BundleName, folderOf } from './bundle-image.ts';

export interface AddedBundle extends BundleName {
  readonly folder: string;
}

/** Changed paths of one comparison at most: a push of more is not a release. */
const MOST_PATHS = 200_000;

/** Bundles that the later of two trees has and the earlier one has not, in byte order. */
export async function addedBundles(
  objects: ObjectReader,
  trees: { readonly before: string; readonly after: string },
  { layout }: Pick<Policy, 'layout'>,
): Promise<AddedBundle[]> {
  const { changes } = await diffTrees(objects, trees, MOST_PATHS);
  const folders = new Map<string, AddedBundle>();
  for (const { path, after } of changes) {
    const found = after && bundleAt(path, layout);
    if (found) folders.set(found.folder, found);
  }
  const added: AddedBundle[] = [];
  for (const one of [...folders.values()].sort((a, b) => compareText(a.folder, b.folder))) {
    const [before, now] = await Promise.all(
      [trees.before, trees.after].map((tree) => entryAt(objects, tree, one.folder)),
    );
    if (before || !now || !isTree(now.mode)) continue;
    const inside = await objects.tree(now.id);
    if (inside.some(({ name }) => name === 'manifests')) added.push(one);
  }
  return added;
}

/** Those of some bundles whose directories a tree has. */
export async function bundlesIn(
  objects: ObjectReader,
  tree: string,
  names: readonly BundleName[],
): Promise<BundleName[]> {
  const there: BundleName[] = [];
  for (const one of names) {
    const entry = await entryAt(objects, tree, folderOf(one));
    if (entry && isTree(entry.mode)) there.push(one);
  }
  return there;
}

function bundleAt(path: string, layout: Policy['layout']): AddedBundle | undefined {
  const [root, name = '', version = '', ...rest] = path.split('/');
  const match = layout.match(path);
  if (root !== 'operators' || rest.length === 0 || match?.kind !== 'bundle') return undefined;
  if (match.package !== name || match.version !== version) return undefined;
  return { package: name, version, folder: folderOf({ package: name, version }) };
}
