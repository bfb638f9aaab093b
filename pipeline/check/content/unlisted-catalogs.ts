/** Catalogs where the layout knows of none: nothing would check them, and so they never pass. */

import { dirname } from 'node:path/posix';
import { IGNORE_FILE, isIgnoreFile } from '../../../catalog/fbc/ignore.ts';
import { load } from '../../../catalog/fbc/load.ts';
import { tryParseMinor } from '../../../catalog/fbc/openshift.ts';
import { type Finding, milderSeverity, type Severity } from '../../../catalog/finding.ts';
import { rule as packageRemoved } from '../../../catalog/rules/graph/package-removed.ts';
import { rule } from '../../../catalog/rules/layout/unmatched.ts';
import { isWithin } from '../../change/catalogs.ts';
import type { Change } from '../../change/change.ts';
import { loadedFiles } from '../../change/content.ts';
import { isOutsideLayout, MAY_BE_CATALOG } from '../../change/path.ts';
import { type CatalogUnit, catalogUnits, packagesIn } from '../../change/unit.ts';
import { bytesWithin, type ObjectReader } from '../../git/objects.ts';
import { sourceFile, whyUnreadable } from '../../git/source.ts';
import { entryAt, isTree, joinPath, type ListedFile, listFiles, type PathChange } from '../../git/tree.ts';
import type { Policy } from '../../policy/policy.ts';
import { isTemplateText } from '../../policy/setup/catalog-files.ts';
import { isUnshipped, isUnshippedTemplate } from '../../policy/setup/unshipped.ts';
import { severitiesOf } from '../../policy/severity.ts';
import { matchesGlob } from '../../text.ts';
import type { CheckScene } from '../world/scene.ts';
import type { CatalogResult } from './catalog-rules.ts';

/** Schemas of what opm renders: as a blob of a catalog it says nothing to clients. */
const TEMPLATE = /^olm\.(?:template\.[a-z]+|semver|composite)$/;

/**
 * What a change brings of catalogs, or takes away, in places that the layout does not know, and what keeps a publish from
 * reading the folder of a catalog: it reads every file there, whatever it is called.
 */
export async function findUnlistedCatalogs(scene: CheckScene): Promise<CatalogResult[]> {
  const { objects, policy, change } = scene;
  const severity = severitiesOf(policy)(rule);
  if (severity === 'off') return [];
  const isBeside = await besideTest(scene);
  const isServed = (path: string): boolean => policy.layout.serves(path) || isBeside(path);
  const candidates = change.paths.filter(
    (one) =>
      (one.area !== 'catalog' && policy.layout.serves(one.path)) ||
      (isOutsideLayout(one) && (MAY_BE_CATALOG.test(one.path) || isBeside(one.path))),
  );
  // Only a policy says that the layout leaves files out on purpose: until then, each change of them is an error.
  const oldFile = (one: PathChange): PathChange['after'] =>
    severity === 'error' ? undefined : fileOf({ ...one, after: undefined });
  await objects.prefetch(
    candidates.flatMap((one) => [fileOf(one), oldFile(one)].flatMap((file) => file?.id ?? [])),
  );
  const packagesIfCatalog = async (
    path: string,
    file: PathChange['after'],
  ): Promise<readonly string[] | undefined> =>
    file && (await catalogAt(objects, { id: file.id, path, isServed: isServed(path) }, policy));
  const [findings, known]: [Finding[], Finding[]] = [[], []];
  const isSource = await sourceTest(scene);
  for (const one of candidates) {
    const packages = await packagesIfCatalog(one.path, fileOf(one));
    if (!packages) continue;
    const isKnown = (await packagesIfCatalog(one.path, oldFile(one))) !== undefined;
    const itsSeverity = isSource(one.path, packages) ? 'info' : severity;
    const list = isKnown ? known : findings;
    // A removed file defines nothing any more.
    list.push(unlistedFinding(one.path, itsSeverity, one.after ? packages : []));
  }
  const reported = new Set([...findings, ...known].map(({ location }) => location.file));
  for (const one of await strangeFiles(scene)) {
    if (reported.has(one.path)) continue;
    const packages = one.isNoLongerIgnored
      ? await catalogAt(objects, { ...one.file, isServed: true }, policy)
      : undefined;
    findings.push(
      packages ? unlistedFinding(one.path, severity, packages) : unreadFinding(one, policy, severity),
    );
  }
  return [{ findings, known, diffs: [] }];
}

/**
 * Tells whether a file lies beside a catalog that is one file: who copies its folder into an image has it there, too. Those
 * that end as catalogs do may be templates, and are looked at wherever they are.
 */
async function besideTest({
  objects,
  policy,
  trees,
  change,
}: CheckScene): Promise<(path: string) => boolean> {
  const { layout } = policy;
  const mayBe = (path: string): boolean => layout.isBesideCatalog(path) && !MAY_BE_CATALOG.test(path);
  const folders = new Set<string>();
  if (change.paths.some(({ area, path }) => area !== 'catalog' && mayBe(path)))
    for (const tree of [trees.base, trees.merged])
      for (const { root, path, mode } of (await catalogUnits(objects, tree, layout)).values())
        if (root === path && !isTree(mode)) folders.add(dirname(root));
  return (path) => mayBe(path) && [...folders].some((folder) => isWithin(path, folder));
}

/** Tells whether a file is what catalogs are made from: it is in a folder of templates, and catalogs have its packages. */
async function sourceTest({
  objects,
  policy,
  trees,
}: CheckScene): Promise<(path: string, packages: readonly string[]) => boolean> {
  const listed = await packagesIn(objects, trees.merged, policy.layout);
  return (path, packages) =>
    isUnshipped(path) &&
    !isUnshippedTemplate(path) &&
    packages.length > 0 &&
    packages.every((name) => listed.has(name));
}

/** The finding about a catalog that no pattern of the layout matches. @param packages those that the file defines */
function unlistedFinding(path: string, severity: Severity, packages: readonly string[]): Finding {
  const message = `${path} contains catalog blobs, but no layout pattern matches it, so Portolan did not check it`;
  const hint = `add a pattern to layout.catalog in the policy, for example ${patternFor(path)}`;
  const [only, ...others] = packages;
  return {
    rule: rule.id,
    severity,
    message,
    location: { file: path, line: 1, column: 1 },
    hint,
    ...(only === undefined || others.length > 0 ? {} : { package: only }),
  };
}

/**
 * Results without the finding that a package was removed, where an unlisted file in the package's folder defines it: that
 * file is the error. The finding stays if it is about more catalogs than such files make up for.
 */
export function withoutMoved(
  results: readonly CatalogResult[],
  unlisted: readonly CatalogResult[],
): CatalogResult[] {
  const folders = new Map<string, Set<string>>();
  for (const { severity, package: packageName, location } of unlisted.flatMap(({ findings }) => findings)) {
    if (severity !== 'error' || packageName === undefined) continue;
    folders.set(packageName, (folders.get(packageName) ?? new Set()).add(dirname(location.file)));
  }
  const isMoved = ({ rule: id, package: packageName = '', location, catalogs = [] }: Finding): boolean => {
    const own = folders.get(packageName);
    return (
      id === packageRemoved.id &&
      own !== undefined &&
      own.has(dirname(location.file)) &&
      own.size >= catalogs.length
    );
  };
  if (folders.size === 0) return [...results];
  return results.map((result) => ({ ...result, findings: result.findings.filter((one) => !isMoved(one)) }));
}

/** The finding about a file that a publish could not read; an error if the policy publishes its catalog. */
function unreadFinding({ path, home, why }: StrangeFile, { publish }: Policy, severity: Severity): Finding {
  const isPublished = publish.catalogs.some(({ pattern }) => matchesGlob(pattern, home.catalog));
  const message = `${path} is in the folder of catalog ${home.catalog}, whose files opm reads all, and is not one of blobs: ${why ?? 'an ignore file no longer leaves it out'}`;
  const name = path.split('/').at(-1) ?? '';
  const hint = `move it, or add the line ${name} to ${joinPath(home.root, IGNORE_FILE)}`;
  return {
    rule: rule.id,
    severity: isPublished ? severity : milderSeverity(severity, 'warning'),
    message,
    location: { file: path, line: 1, column: 1 },
    hint,
  };
}

/** A file in the folder of a catalog that a publish reads from now on, and refuses or has not checked. */
interface StrangeFile {
  readonly path: string;
  readonly file: ListedFile;
  /** A part of the catalog. */
  readonly home: CatalogUnit;
  /** Why it cannot be read. */
  readonly why: string | undefined;
  /** Whether an ignore file left it out before. */
  readonly isNoLongerIgnored: boolean;
}

/**
 * Files that a publish would read although no part of a catalog has them: changed ones, and those that an ignore file no
 * longer leaves out.
 */
async function strangeFiles(scene: CheckScene): Promise<StrangeFile[]> {
  const { objects, policy, trees, change } = scene;
  const served = change.paths.filter(({ path }) => policy.layout.serves(path));
  if (served.every(({ area, path }) => area === 'catalog' && !isIgnoreFile(path))) return [];
  const units = async (tree: string): Promise<CatalogUnit[]> =>
    [...(await catalogUnits(objects, tree, policy.layout)).values()].filter(({ composed }) => !composed);
  const [before, after] = [await units(trees.base), await units(trees.merged)];
  const paths = new Set(served.filter(({ area }) => area !== 'catalog').map(({ path }) => path));
  for (const { path } of served.filter((one) => isIgnoreFile(one.path))) {
    const folder = path.split('/').slice(0, -1).join('/');
    const entry = await entryAt(objects, trees.merged, folder);
    const inside = entry && isTree(entry.mode) ? await listFiles(objects, entry.id) : [];
    for (const file of inside) paths.add(joinPath(folder, file.path));
  }
  const found: StrangeFile[] = [];
  for (const path of paths) {
    if (isIgnoreFile(path) || after.some((unit) => isWithin(path, unit.path))) continue;
    const now = await readingOf(scene, { tree: trees.merged, units: after, path });
    if (!now) continue;
    const was = await readingOf(scene, { tree: trees.base, units: before, path });
    const isNoLongerIgnored = was === undefined && !change.paths.some((one) => one.path === path);
    // A changed file counts once it cannot be read. One that is no longer ignored also counts if it has
    // blobs: nothing checked them.
    if (isNoLongerIgnored ? now.why !== undefined || now.hasBlobs : now.why !== undefined && !was?.why)
      found.push({ path, ...now, isNoLongerIgnored });
  }
  return found;
}

interface Reading extends Pick<StrangeFile, 'file' | 'home' | 'why'> {
  readonly hasBlobs: boolean;
}

/** How a publish reads a file; undefined where it does not. */
async function readingOf(
  { objects, policy: { limits } }: CheckScene,
  {
    tree,
    units,
    path,
  }: { readonly tree: string; readonly units: readonly CatalogUnit[]; readonly path: string },
): Promise<Reading | undefined> {
  const home = units.find(({ root }) => root !== path && isWithin(path, root));
  const entry = home && (await entryAt(objects, tree, path));
  if (!entry || isTree(entry.mode)) return undefined;
  // As a part of the catalog, it is loaded unless an ignore file leaves it out.
  const part: CatalogUnit = { ...home, ...entry, path, package: undefined };
  const [file] = await loadedFiles(objects, tree, part);
  if (!file) return undefined;
  const info = whyUnreadable(entry.mode) === undefined ? await objects.info(entry.id) : undefined;
  if (info && info.size > limits.fileBytes) return { file, home, why: 'it is too large', hasBlobs: false };
  const { blobs, findings } = await load(
    { files: () => Promise.resolve([sourceFile(objects, file)]) },
    limits,
  );
  const why = findings.find(({ severity }) => severity === 'error')?.message;
  return { file, home, why, hasBlobs: Object.values(blobs).some((some) => some.length > 0) };
}

/** Paths of templates that a change writes without the catalogs rendered from them, so that no catalog is checked. */
export async function templatesAlone(
  objects: ObjectReader,
  { paths, packages }: Change,
  { limits }: Policy,
): Promise<string[]> {
  if ([...packages.values()].some(({ catalogs }) => catalogs.length > 0)) return [];
  const found: string[] = [];
  for (const one of paths) {
    const { area, path, after } = one;
    const isOutside = isOutsideLayout(one) || area === 'template';
    if (!isOutside || !MAY_BE_CATALOG.test(path) || !after || whyUnreadable(after.mode) !== undefined)
      continue;
    const bytes = await bytesWithin(objects, after.id, limits.fileBytes);
    if (bytes && isTemplateText(bytes.toString('utf8'))) found.push(path);
  }
  return found;
}

/** The file after a change, or the one that it removes; undefined for a link or a submodule, which nobody reads. */
function fileOf({ before, after }: PathChange): PathChange['after'] {
  const file = after ?? before;
  return file && whyUnreadable(file.mode) === undefined ? file : undefined;
}

/**
 * The packages that a file defines that is a catalog or a part of one, by its blobs; undefined for any other. One that is too
 * large to read counts as a catalog, and defines none.
 */
async function catalogAt(
  objects: ObjectReader,
  { id, path, isServed }: { readonly id: string; readonly path: string; readonly isServed: boolean },
  { limits, layout }: Policy,
): Promise<readonly string[] | undefined> {
  const bytes = await bytesWithin(objects, id, limits.fileBytes);
  // A file that is too large to read may be a catalog, unless it only lies beside one under another ending.
  if (!bytes) return layout.serves(path) || MAY_BE_CATALOG.test(path) ? [] : undefined;
  const file = { path: 'file', read: () => bytes };
  const { blobs } = await load({ files: () => Promise.resolve([file]) }, limits);
  const { packages, channels, bundles, deprecations, others } = blobs;
  const defined = packages.map(({ name }) => name);
  if (isServed)
    return [...packages, ...channels, ...bundles, ...deprecations, ...others].some(
      ({ schema, package: packageName }) => packageName !== '' || !TEMPLATE.test(schema),
    )
      ? defined
      : undefined;
  // Rendered bundles have names: a list of bundles without names is a template.
  if (bundles.length > 0 && bundles.every(({ name }) => name === '')) return undefined;
  // A package without channels and bundles is not a catalog, but it may be a part of one beside it.
  const isCatalog =
    channels.length + bundles.length + deprecations.length > 0 ||
    (packages.length > 0 && layout.governs(path));
  return isCatalog ? defined : undefined;
}

/**
 * The pattern that somebody would write for a path: the version in it is the catalog, the folder below it the package.
 * `catalogs/v4.20/etcd/x.yaml` gives `catalogs/{catalog}/{package}/**`, and `v4.20/x.yaml` gives `{catalog}/x.yaml`.
 */
function patternFor(path: string): string {
  const names = path.split('/');
  const at = names.findIndex((name) => tryParseMinor(name) !== undefined);
  if (at >= 0 && at < names.length - 2)
    return `'${[...names.slice(0, at), '{catalog}', '{package}', '**'].join('/')}'`;
  if (at >= 0) return `'${names.map((name, i) => (i === at ? '{catalog}' : name)).join('/')}'`;
  return names.length > 2 ? `'${[...names.slice(0, -2), '{package}', '**'].join('/')}'` : `'${path}'`;
}
