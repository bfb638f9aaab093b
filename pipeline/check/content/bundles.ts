/** The bundle directories that a pull request brings or changes. */
import type { BundleFiles } from '../../../catalog/bundle/read.ts';
import type { PlacedBundle } from '../../../catalog/edit/package-graph.ts';
import { type Finding, findingIdentity } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { formatVersion } from '../../../catalog/version/version.ts';
import { type BundleFolder, checkFiles } from '../../catalogs/bundle/check-bundle.ts';
import { namedBundles } from '../../change/named-bundles.ts';
import { catalogUnits } from '../../change/unit.ts';
import { PipelineError } from '../../error.ts';
import type { Repository } from '../../git/repository.ts';
import { bundleFolderOf } from '../../policy/layout.ts';
import type { KeptOutlines } from '../world/context.ts';
import type { CheckScene } from '../world/scene.ts';
import type { BeforeAndAfter } from '../world/touched-catalog.ts';
import { bundleFilesAt, hasLater, placedAt } from './bundle-folders.ts';
import { checkUpgrade, isSameRelease } from './bundle-upgrades.ts';
import type { CatalogResult } from './catalog-rules.ts';
import { listedBundles } from './dangling.ts';

/**
 * Checks every bundle directory that changes. A defect that the bundle had before the change is reported as
 * known, not as new.
 *
 * @param resolve finds the commits of tags
 */
export async function checkBundles(
  scene: CheckScene,
  resolve: Repository['resolve'],
  kept?: KeptOutlines,
): Promise<CatalogResult[]> {
  const { trees } = scene;
  const results: CatalogResult[] = [];
  const { fileBytes: most } = scene.policy.limits;
  const named = await namedBundles(scene.objects, { trees, paths: scene.change.paths, most });
  // One side at least names a package. A bundle that changes it is checked as one of the new package.
  const others = named.map(({ path, before = '', after = before }) => ({ path, package: after }));
  const hasCatalogs = (await catalogUnits(scene.objects, trees.merged, scene.policy.layout)).size > 0;
  const sources = { resolve, kept, hasCatalogs };
  // One at a time: what is in memory is one bundle.
  for (const folder of [...foldersOf(scene), ...others]) {
    const isInLayout = !others.includes(folder);
    const [earlier, before] = await bundleIn(scene, trees.base, folder);
    const [found, after, files] = await bundleIn(scene, trees.merged, folder);
    // What a build makes of it is checked where it becomes a bundle.
    const now = !isInLayout && isTemplate(files) ? found.map(asNote) : found;
    const [was, is] = [before, after].map((one) => one && formatVersion(one.version));
    // A defect stays the same one when the version that it names changes.
    const renamed = (finding: Finding): Finding =>
      was && is ? { ...finding, message: finding.message.replaceAll(was, is) } : finding;
    results.push(newsOf(now, earlier.map(renamed)));
    results.push(...(await upgradesOf(scene, { ...folder, isInLayout }, { before, after }, sources)));
  }
  return results;
}

interface Sources {
  readonly resolve: Repository['resolve'];
  readonly kept: KeptOutlines | undefined;
  /** Whether the repository has catalogs after the merge. */
  readonly hasCatalogs: boolean;
}

/** What a bundle does to installed versions, unless the catalogs get it: then it is checked there. */
async function upgradesOf(
  scene: CheckScene,
  folder: BundleFolder & { readonly isInLayout: boolean },
  { before, after }: BeforeAndAfter<PlacedBundle | undefined>,
  { resolve, kept, hasCatalogs }: Sources,
): Promise<CatalogResult[]> {
  const { policy, trees } = scene;
  const { isInLayout } = folder;
  if (!after) return [];
  // Then catalogs are made from the directories of the layout, and have all of their bundles.
  const isComposed = isInLayout && policy.layout.composed !== undefined;
  const inCatalogs = async (tree: string, bundle: PlacedBundle | undefined): Promise<InCatalogs> =>
    isComposed ? { bundle: bundle !== undefined, package: true } : listedIn(scene, { tree, bundle, kept });
  const was = await inCatalogs(trees.base, before);
  const is = await inCatalogs(trees.merged, after);
  if (isInLayout && is.bundle && !was.bundle) return [];
  return checkUpgrade(
    scene,
    folder,
    { before, after },
    {
      isPlacedByCatalogs: is.package || (isInLayout && hasCatalogs),
      releasedAs: async (bundle) =>
        was.bundle || (await hasLater(scene, folder, bundle))
          ? bundle
          : taggedAs(scene, folder, { bundle, resolve }),
    },
  );
}

/** Whether the catalogs of a tree have a bundle, and its package. */
interface InCatalogs {
  readonly bundle: boolean;
  readonly package: boolean;
}

/** Whether any catalog that people write has a bundle, and whether it has the bundle's package. */
async function listedIn(
  scene: CheckScene,
  {
    tree,
    bundle,
    kept,
  }: {
    readonly tree: string;
    readonly bundle: PlacedBundle | undefined;
    readonly kept: KeptOutlines | undefined;
  },
): Promise<InCatalogs> {
  if (!bundle) return { bundle: false, package: false };
  const { package: packageName, name } = bundle.blob;
  const own = (await listedBundles(scene, { tree, kept }, new Set([packageName]))).bundles.get(packageName);
  return { bundle: own?.some((one) => one.name === name) ?? false, package: own !== undefined };
}

/** A bundle as the tag of its version has it; undefined where there is no such tag, as in a copy without tags. */
async function taggedAs(
  scene: CheckScene,
  { path }: BundleFolder,
  { bundle, resolve }: { readonly bundle: PlacedBundle; readonly resolve: Repository['resolve'] },
): Promise<PlacedBundle | undefined> {
  const version = formatVersion(bundle.version);
  for (const tag of [`v${version}`, version]) {
    try {
      const [commit = ''] = await resolve([`refs/tags/${tag}`]);
      const tagged = placedAt(await bundleFilesAt(scene, commit, path), path);
      if (tagged && isSameRelease(tagged, bundle)) return tagged;
    } catch (error) {
      if (!(error instanceof PipelineError && error.code === 'not-found')) throw error;
    }
  }
  return undefined;
}

/** The bundle directories in which paths change, by the layout of the policy. */
function foldersOf({ change, policy }: Pick<CheckScene, 'change' | 'policy'>): BundleFolder[] {
  const folders = new Map<string, BundleFolder>();
  for (const { path } of change.paths) {
    const match = policy.layout.match(path);
    if (match?.kind !== 'bundle' || match.version === undefined || match.package === undefined) continue;
    const folder = bundleFolderOf(policy.layout, path);
    folders.set(folder, { path: folder, package: match.package });
  }
  return [...folders.values()].sort((a, b) => compareText(a.path, b.path));
}

/** What is wrong with a folder's files, and the bundle that they are. */
async function bundleIn(
  scene: Pick<CheckScene, 'objects' | 'policy'>,
  tree: string,
  folder: BundleFolder,
): Promise<[Finding[], PlacedBundle | undefined, BundleFiles | undefined]> {
  const files = await bundleFilesAt(scene, tree, folder.path);
  return [files ? await checkFiles(files, folder, scene.policy) : [], placedAt(files, folder.path), files];
}

/** Whether a build fills in the name of the operator, as in `name: etcd.v${VERSION}`: nobody could install it as it is. */
function isTemplate(files: BundleFiles | undefined): boolean {
  const documents = files?.manifests.flatMap((file) => file.documents) ?? [];
  return documents.some((document) => {
    const value = document.kind === 'value' ? document.value : undefined;
    if (!isObject(value) || value['kind'] !== 'ClusterServiceVersion' || !isObject(value['metadata']))
      return false;
    return /\$\{|\{\{/.test(String(value['metadata']['name']));
  });
}

function asNote(finding: Finding): Finding {
  return { ...finding, severity: 'info' };
}

/** What is wrong now, apart from what was wrong before. */
export function newsOf(now: readonly Finding[], before: readonly Finding[]): CatalogResult {
  const known = new Set(before.map(findingIdentity));
  const isNews = (finding: Finding): boolean => !known.has(findingIdentity(finding));
  return {
    findings: now.filter(isNews),
    known: now.filter((finding) => !isNews(finding)),
    diffs: [],
  };
}
