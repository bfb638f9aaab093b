/** The bundle directories that a pull request brings or changes. */
import type { PlacedBundle } from '../../../catalog/edit/package-graph.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { type BundleFolder, checkFiles } from '../../catalogs/bundle/check-bundle.ts';
import { catalogUnits } from '../../change/unit.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { entryAt } from '../../git/tree.ts';
import { packageIn } from '../../policy/setup/bundle-folders.ts';
import { isUnshipped } from '../../policy/setup/unshipped.ts';
import type { CheckScene } from '../world/scene.ts';
import { bundleFilesAt, checkUpgrade, placedAt } from './bundle-upgrades.ts';
import type { CatalogResult } from './catalog-rules.ts';

/** Checks every bundle directory that changes; what it had before the change is known. */
export async function checkBundles(scene: CheckScene): Promise<CatalogResult[]> {
  const { objects, policy, trees } = scene;
  const results: CatalogResult[] = [];
  const others = await unnamedFolders(scene);
  const hasCatalogs = (await catalogUnits(objects, trees.merged, policy.layout)).size > 0;
  // One at a time: what is in memory is one bundle.
  for (const folder of [...foldersOf(scene), ...others]) {
    const [earlier, before] = await bundleIn(scene, trees.base, folder);
    const [now, after] = await bundleIn(scene, trees.merged, folder);
    const [was, is] = [before, after].map((one) => one && formatVersion(one.version));
    // A defect stays the same one when the version that it names changes.
    const renamed = (finding: Finding): Finding =>
      was && is ? { ...finding, message: finding.message.replaceAll(was, is) } : finding;
    results.push(newsOf(now, earlier.map(renamed)));
    // What a catalog has is checked there.
    if (!hasCatalogs || others.includes(folder))
      results.push(...(await checkUpgrade(scene, folder, { before, after })));
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

/** Bundle directories that no pattern names, such as `bundle/` in the source of an operator: their files say what they are. */
async function unnamedFolders({ objects, change, trees }: CheckScene): Promise<BundleFolder[]> {
  const paths = new Set(
    change.paths
      .filter(({ area, path }) => (area === 'unknown' || area === 'root') && !isUnshipped(path))
      .flatMap(({ path }) => /^(.+)\/(?:manifests|metadata)\/[^/]+$/.exec(path)?.[1] ?? []),
  );
  const folders: BundleFolder[] = [];
  for (const path of [...paths].sort(compareText)) {
    const name =
      (await packageNamed(objects, trees.merged, path)) ?? (await packageNamed(objects, trees.base, path));
    if (name !== undefined) folders.push({ path, package: name });
  }
  return folders;
}

/** The package that the annotations in a folder name. */
async function packageNamed(objects: ObjectReader, tree: string, path: string): Promise<string | undefined> {
  const entry = await entryAt(objects, tree, `${path}/metadata/annotations.yaml`);
  if (!entry || whyUnreadable(entry.mode) !== undefined) return undefined;
  return packageIn(objects, { ...entry, path: `${path}/metadata/annotations.yaml` });
}

/** What is wrong with a folder's files, and the bundle that they are. */
async function bundleIn(
  scene: Pick<CheckScene, 'objects' | 'policy'>,
  tree: string,
  folder: BundleFolder,
): Promise<[Finding[], PlacedBundle | undefined]> {
  const files = await bundleFilesAt(scene, tree, folder.path);
  return [files ? await checkFiles(files, folder, scene.policy) : [], placedAt(files, folder.path)];
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
