/** The Dockerfiles of catalogs that a pull request changes, or whose catalogs it changes, as Konflux checks their images. */
import { catalogFolder, type Fragment, fragmentIn, isWithin } from '../../../catalog/fbc/fragment.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runFragmentChecks } from '../../../catalog/rules/rule.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { type ListedFile, listFiles } from '../../git/tree.ts';
import { isDockerfile } from '../../policy/setup/build-files.ts';
import { isUnshipped } from '../../policy/setup/unshipped.ts';
import { severitiesOf } from '../../policy/severity.ts';
import type { CheckScene } from '../world/scene.ts';
import { newsOf } from './bundles.ts';
import type { CatalogResult } from './catalog-rules.ts';

/** Checks every Dockerfile of a catalog that the change is about; what it had before the change is known. */
export async function checkFragments(scene: CheckScene): Promise<CatalogResult[]> {
  const severityOf = severitiesOf(scene.policy);
  if (!RULES.some((rule) => rule.fragment && severityOf(rule) !== 'off')) return [];
  const [now, before] = [
    await findingsIn(scene, scene.trees.merged),
    await findingsIn(scene, scene.trees.base),
  ];
  return [newsOf(now, before)];
}

async function findingsIn({ objects, policy, change }: CheckScene, tree: string): Promise<Finding[]> {
  const changed = change.paths.map(({ path }) => path);
  const findings: Finding[] = [];
  for (const fragment of await fragmentsIn(objects, tree, changed))
    findings.push(...runFragmentChecks(fragment, RULES, severitiesOf(policy)));
  return findings;
}

/** Most Dockerfiles that are read, and most bytes of one. */
const MOST_DOCKERFILES = 300;
const MOST_BYTES = 256 * 1024;

/** The catalog fragments that Dockerfiles of the tree ship, if the change is about them. */
async function fragmentsIn(
  objects: ObjectReader,
  tree: string,
  changed: readonly string[],
): Promise<Fragment[]> {
  const listed = await listFiles(objects, tree);
  const files = new Map(listed.map((file) => [file.path, file]));
  const dockerfiles = listed
    .filter(({ path, mode }) => isDockerfile(path) && whyUnreadable(mode) === undefined && !isUnshipped(path))
    .sort((a, b) => compareText(a.path, b.path))
    .slice(0, MOST_DOCKERFILES);
  const paths = [...files.keys()].sort();
  const found: Fragment[] = [];
  for (const { path, id } of dockerfiles) {
    const info = await objects.info(id);
    if (info === undefined || info.size > MOST_BYTES) continue;
    const text = (await objects.read(id, MOST_BYTES)).bytes.toString('utf8');
    const fragment = fragmentIn(path, text, paths);
    if (!fragment || !isAbout(fragment, changed)) continue;
    found.push({ ...fragment, hasPackage: await hasPackage(fragment, files, objects) });
  }
  return found;
}

/** Whether it changes, or any of its files. */
function isAbout({ path, files }: Omit<Fragment, 'hasPackage'>, changed: readonly string[]): boolean {
  const own = new Set([path, ...(files ?? []).map(({ source }) => source)]);
  return changed.some((one) => own.has(one));
}

const PACKAGE = /["']?schema["']?\s*:\s*["']?olm\.package["']?\s*(?:[,}#\r\n]|$)/;
/** Most bytes of a file that is searched for a package. */
const MOST_CATALOG = 64 * 1024 * 1024;

/** Whether the files that a fragment ships define a package; undefined if that cannot be known. */
async function hasPackage(
  fragment: Omit<Fragment, 'hasPackage'>,
  files: ReadonlyMap<string, ListedFile>,
  objects: ObjectReader,
): Promise<boolean | undefined> {
  const folder = catalogFolder(fragment);
  if (!fragment.files || folder === undefined) return undefined;
  for (const { source } of fragment.files.filter(({ path }) => isWithin(path, folder))) {
    const file = files.get(source);
    if (!file || whyUnreadable(file.mode) !== undefined) return undefined;
    if (PACKAGE.test((await objects.read(file.id, MOST_CATALOG)).bytes.toString('utf8'))) return true;
  }
  return false;
}
