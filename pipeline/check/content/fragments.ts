/** The Dockerfiles of catalogs that a pull request changes, or whose catalogs it changes, as Konflux checks their images. */
import { dirname } from 'node:path/posix';
import { CONTEXT_IGNORE } from '../../../catalog/fbc/build-context.ts';
import { isWithin } from '../../../catalog/fbc/dockerfile.ts';
import {
  catalogFolder,
  type DescribedFragment,
  type Fragment,
  platformOf,
  UNLABELED_FOLDER,
} from '../../../catalog/fbc/fragment.ts';
import { load } from '../../../catalog/fbc/load.ts';
import { type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import { compareMinors, formatMinor, type Minor, minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { changeOf, type WorldOptions, worldOf } from '../../../catalog/olm/foresight/world.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { runForesight, runFragmentChecks } from '../../../catalog/rules/rule.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { sourceFile, whyUnreadable } from '../../git/source.ts';
import type { ListedFile } from '../../git/tree.ts';
import { isDockerfile } from '../../policy/setup/build-files.ts';
import { foldersAbove } from '../../policy/setup/fragments.ts';
import { inChannel, severitiesOf } from '../../policy/severity.ts';
import { shortList } from '../../text.ts';
import type { CheckReport } from '../report.ts';
import type { CheckScene } from '../world/scene.ts';
import type { BeforeAndAfter } from '../world/touched-catalog.ts';
import { newsOf } from './bundles.ts';
import { type CatalogResult, foreseenIn } from './catalog-rules.ts';
import { fragmentsIn, ignoreFilesOf, type Side, sideOf, WHY_UNREAD } from './fragment-files.ts';

export interface FragmentResults extends ServedResults {
  readonly unchecked: CheckReport['unchecked'];
}

interface ServedResults {
  readonly results: readonly CatalogResult[];
  /** Catalogs whose images get something else, which is compared with them. */
  readonly left: ReadonlySet<string>;
}

/**
 * Checks every Dockerfile of a catalog that changes and, for the gates of presets, those whose files change.
 * A defect that it had before the change is reported as known.
 */
export async function checkFragments(scene: CheckScene): Promise<FragmentResults> {
  const { trees, policy } = scene;
  const severityOf = severitiesOf(policy);
  const changed = scene.change.paths.map(({ path }) => path);
  // Optional rules, which presets turn on, also look at the files that an image ships.
  const hasGateRules = RULES.some((rule) => rule.fragment && rule.isOptional && severityOf(rule) !== 'off');
  const ignoring = changed.filter((path) => path.endsWith(CONTEXT_IGNORE));
  if (!hasGateRules && ignoring.length === 0 && !changed.some(isDockerfile))
    return { results: [], left: new Set(), unchecked: [] };
  const [before, after] = [await sideOf(scene, trees.base), await sideOf(scene, trees.merged)];
  const isRead = (path: string): boolean => hasGateRules || ignoring.length > 0 || changed.includes(path);
  const earlier = new Map<string, DescribedFragment>();
  for await (const one of fragmentsIn(scene, before, { isRead })) earlier.set(one.path, one);
  const wanted: DescribedFragment[] = [];
  const isCatalog = (path: string): boolean => earlier.has(path);
  const unread: string[] = [];
  for await (const one of fragmentsIn(scene, after, { isRead, isCatalog, unread }))
    if (ignoring.length > 0 || isAbout(one, changed)) wanted.push(one);
  const findingsOf = async (
    one: DescribedFragment,
    side: Side,
    change?: Fragment['change'],
  ): Promise<Finding[]> => {
    const hasPackage = hasGateRules ? await definesPackage(one, side.files, scene.objects) : undefined;
    return runFragmentChecks({ ...one, hasPackage, ...(change ? { change } : {}) }, RULES, severityOf);
  };
  const [now, known]: [Finding[], Finding[]] = [[], []];
  const served: CatalogResult[] = [];
  const left = new Set<string>();
  const catalogIn = catalogReader(scene);
  const read = new Set(wanted.map(({ path }) => path));
  // What a Dockerfile that cannot be read any more copies is unknown: it is checked as it was, without files.
  for (const path of unread.filter((one) => changed.includes(one) && !read.has(one))) {
    const old = earlier.get(path);
    if (old) wanted.push({ ...old, files: undefined });
  }
  for (const one of wanted) {
    const old = earlier.get(one.path);
    const change = old && (await changeOfImage(scene, { before, after }, { old, one, changed, ignoring }));
    now.push(...(await findingsOf(one, after, change)));
    const own =
      changed.includes(one.path) && (await servedChange(scene, { before, after, catalogIn }, old, one));
    served.push(...(own ? own.results : []));
    for (const name of own ? own.left : []) left.add(name);
    if (old) known.push(...(await findingsOf(old, before)));
  }
  const what = `what the images of ${shortList(unread, 'Dockerfiles')} have`;
  const unchecked = unread.length === 0 ? [] : [{ what, why: WHY_UNREAD }];
  return { results: [newsOf(now, known), ...served], left, unchecked };
}

interface ChangedImage {
  /** What the Dockerfile described before the change, and after it. */
  readonly old: DescribedFragment;
  readonly one: DescribedFragment;
  /** Paths that change, and those of ignore files among them. */
  readonly changed: readonly string[];
  readonly ignoring: readonly string[];
}

/** How the image of a Dockerfile changes: by its Dockerfile, or by an ignore file, and the catalogs that no image has any more. */
async function changeOfImage(
  scene: CheckScene,
  { before, after }: BeforeAndAfter<Side>,
  { old, one, changed, ignoring }: ChangedImage,
): Promise<Required<Fragment>['change']> {
  const had = [...(before.catalogsOf(old) ?? [])];
  // A catalog that the merge removes is in no image for that reason.
  const names = had.filter((name) => after.catalogs.has(name));
  const by = changed.includes(one.path)
    ? undefined
    : ignoreFilesOf(one.path).find((path) => ignoring.includes(path));
  const lost = await servedByNone(scene, after, { names, own: one });
  return {
    ...(by === undefined ? {} : { by }),
    base: old.base,
    labels: old.labels,
    served: old.served,
    had,
    lost,
  };
}

/**
 * Checks what clusters get from an image whose Dockerfile changes: if it copies other folders, or is for another version of
 * OpenShift, that is to its users as if the image's catalog had changed.
 *
 * @param old the catalog in the image before the change, `one` with it
 * @returns the findings, and the catalogs that the image no longer has
 */
async function servedChange(
  { policy }: CheckScene,
  { before, after, catalogIn }: BeforeAndAfter<Side> & { readonly catalogIn: CatalogReader },
  old: DescribedFragment | undefined,
  one: DescribedFragment,
): Promise<ServedResults> {
  const [was, is] = [old && catalogSources(old), catalogSources(one)];
  const foldersIn = (paths: readonly string[] = []): string =>
    [...new Set(paths.map((path) => dirname(path)))].join();
  const [earlier, platform] = [old && platformOf(old), platformOf(one)];
  const isOther = was !== undefined && is !== undefined && was.length > 0 && foldersIn(was) !== foldersIn(is);
  const isSamePlatform = platform === undefined || (earlier && compareMinors(earlier, platform) === 0);
  const left = new Set(isOther && old ? before.catalogsOf(old) : []);
  // The same folders for the same platform: what changes in their files is checked as a change of the catalog.
  if (!is || is.length === 0 || (!isOther && isSamePlatform)) return { results: [], left };
  const now = await catalogIn(after, is);
  const had = isOther ? await catalogIn(before, was) : now;
  const severityOf = severitiesOf(policy);
  const sideOf = (catalog: Catalog, minor: Minor | undefined): WorldOptions => ({
    name: one.path,
    catalog,
    olm: policy.graph.olm,
    ...(minor ? { platform: minor } : {}),
  });
  const formatsOf = async (options: WorldOptions): Promise<Finding[]> =>
    runForesight(await worldOf(options), FORMATS, severityOf);
  const change = await changeOf(sideOf(had, platform), sideOf(now, platform));
  // What the catalog has for itself is not new: it is in the repository already.
  const compared = foreseenIn(change, { severityOf, before: false, after: false });
  // Each package has one finding at most.
  const known = new Set((old ? await formatsOf(sideOf(had, earlier)) : []).map((one) => one.package));
  // A catalog that is called after its version is checked for that by itself.
  const isNamed = [...(after.catalogsOf(one) ?? [])].some((name) => minorOfCatalog(name));
  const ofFormat = isNamed
    ? []
    : (await formatsOf(sideOf(now, platform))).filter((one) => !known.has(one.package));
  const why = isOther
    ? `the image now copies ${commonFolder(is)} in place of ${commonFolder(was)}`
    : `the image is for OpenShift ${platform ? formatMinor(platform) : ''}`;
  const placed = ({ correction: _, ...finding }: Finding): Finding =>
    inChannel(policy, { ...finding, location: one.place, message: `${finding.message}; ${why}` });
  const findings = [...compared.findings, ...ofFormat].map(placed);
  return { results: [{ ...compared, findings, diffs: [] }], left };
}

/** Gives the catalog that files of a side are. */
type CatalogReader = (side: Side, paths: readonly string[]) => Promise<Catalog>;

/** Reads catalogs, each once, however many Dockerfiles copy it. */
function catalogReader({ objects, policy }: CheckScene): CatalogReader {
  const read = new Map<string, Promise<Catalog>>();
  return ({ files }, paths) => {
    const own = paths
      .flatMap((path) => files.get(path) ?? [])
      .filter(({ mode }) => whyUnreadable(mode) === undefined);
    const key = JSON.stringify(own.map(({ path, id }) => [path, id]));
    const source = { files: () => Promise.resolve(own.map((file) => sourceFile(objects, file))) };
    const found = read.get(key) ?? load(source, policy.limits).then(({ blobs }) => catalogOf(blobs));
    read.set(key, found);
    return found;
  };
}

/** The rule about the format that the clusters of a version read. */
const FORMATS = RULES.filter(({ id }) => id === 'bundle/metadata-format');

/** The longest path that files are below. */
function commonFolder([first = '', ...others]: readonly string[]): string {
  return foldersAbove(first).find((folder) => others.every((path) => isWithin(path, folder))) ?? '';
}

/** Files of the repository that an image has in the folder of its catalog; undefined if only a build knows them. */
function catalogSources(fragment: DescribedFragment): string[] | undefined {
  const folder = catalogFolder(fragment) ?? UNLABELED_FOLDER;
  return fragment.files?.filter(({ path }) => isWithin(path, folder)).map(({ source }) => source);
}

/** Those of some catalogs that no image of a tree has; none if a build decides what an image has. */
async function servedByNone(
  scene: CheckScene,
  side: Side,
  { names, own }: { readonly names: readonly string[]; readonly own: DescribedFragment },
): Promise<string[]> {
  let left = withoutServed(names, side.catalogsOf(own));
  if (left.length === 0) return left;
  for await (const one of fragmentsIn(scene, side)) left = withoutServed(left, side.catalogsOf(one));
  return left;
}

/** The names that are not served; none if it is unknown what is, since it may be all of them. */
function withoutServed(names: readonly string[], served: ReadonlySet<string> | undefined): string[] {
  return served ? names.filter((name) => !served.has(name)) : [];
}

/** Whether it changes, or any of its files. */
function isAbout({ path, files }: DescribedFragment, changed: readonly string[]): boolean {
  const own = new Set([path, ...(files ?? []).map(({ source }) => source)]);
  return changed.some((one) => own.has(one));
}

/** An `olm.package` blob in YAML or JSON, found without a parser: catalogs may be large. */
const PACKAGE = /["']?schema["']?\s*:\s*["']?olm\.package["']?\s*(?:[,}#\r\n]|$)/;
/** Most bytes of a file that is searched for a package. */
const MOST_CATALOG = 64 * 1024 * 1024;

/** Whether the files that a fragment ships define a package; undefined if that cannot be known. */
async function definesPackage(
  fragment: DescribedFragment,
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
