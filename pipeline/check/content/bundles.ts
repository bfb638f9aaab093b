/** The bundle directories that a pull request brings or changes. */
import type { Finding } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { type BundleFolder, checkFolder } from '../../catalogs/bundle/check-bundle.ts';
import { treeSource } from '../../git/source.ts';
import { entryAt, isTree } from '../../git/tree.ts';
import type { CheckScene } from '../world/scene.ts';
import type { CatalogResult } from './catalog-rules.ts';

/** Checks every bundle directory that changes; what it had before the change is known. */
export async function checkBundles(scene: CheckScene): Promise<CatalogResult[]> {
  const results: CatalogResult[] = [];
  // One at a time: what is in memory is one bundle.
  for (const folder of foldersOf(scene)) {
    const now = await findingsIn(scene, scene.trees.merged, folder);
    results.push(newsOf(now, await findingsIn(scene, scene.trees.base, folder)));
  }
  return results;
}

function foldersOf({ change, policy }: Pick<CheckScene, 'change' | 'policy'>): BundleFolder[] {
  const folders = new Map<string, BundleFolder>();
  for (const { path } of change.paths) {
    const match = policy.layout.match(path);
    if (match?.kind !== 'bundle' || match.version === undefined || match.package === undefined) continue;
    const names = path.split('/');
    const at = names.indexOf(match.version, names.indexOf(match.package) + 1);
    const folder = names.slice(0, at + 1).join('/');
    folders.set(folder, { path: folder, package: match.package });
  }
  return [...folders.values()].sort((a, b) => compareText(a.path, b.path));
}

async function findingsIn(
  { objects, policy }: Pick<CheckScene, 'objects' | 'policy'>,
  tree: string,
  folder: BundleFolder,
): Promise<Finding[]> {
  const entry = await entryAt(objects, tree, folder.path);
  if (!entry || !isTree(entry.mode)) return [];
  const inside = await objects.tree(entry.id);
  if (!inside.some(({ name }) => name === 'manifests' || name === 'metadata')) return [];
  return checkFolder(treeSource(objects, entry.id), folder, policy);
}

/** What is wrong now, apart from what was wrong before. */
export function newsOf(now: readonly Finding[], before: readonly Finding[]): CatalogResult {
  const known = new Set(before.map(sameness));
  const isNews = (finding: Finding): boolean => !known.has(sameness(finding));
  return {
    findings: now.filter(isNews),
    known: now.filter((finding) => !isNews(finding)),
    diffs: [],
  };
}

/** Two findings are the same whatever line they stand on. */
function sameness({ rule, message, location }: Finding): string {
  return JSON.stringify([rule, message, location.file]);
}
