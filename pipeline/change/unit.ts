/**
 * Catalogs as a repository holds them: one unit for each package's folder in each
 * catalog, or for each file that holds a whole catalog.
 */
import { compareText } from '../../catalog/go/text.ts';
import { PipelineError } from '../error.ts';
import type { ObjectReader } from '../git/objects.ts';
import { isTree, joinPath } from '../git/tree.ts';
import { LruCache } from '../lru-cache.ts';
import {
  bundleDepth,
  type Captured,
  type CompiledPattern,
  catalogName,
  firstMatch,
  isVersionFolder,
  type Layout,
  matchSegment,
  type PatternSegment,
  rootSegment,
  withoutRest,
} from '../policy/layout.ts';
import type { ComposedPackage } from './community-package.ts';

export interface CatalogUnit {
  /** Of the package's folder, or of the file. */
  readonly path: string;
  /** Git's id and mode of it. */
  readonly id: string;
  readonly mode: string;
  /** Name of the catalog. */
  readonly catalog: string;
  /** Undefined where one file or folder holds several packages. */
  readonly package: string | undefined;
  /** Path of the catalog's own folder, which is what opm is given; of the file, for a catalog in one file. */
  readonly root: string;
  /** Patterns that come first: their files in the folder are of other units. */
  readonly earlier?: readonly CompiledPattern[];
  /** For a package that is made from the bundle directories in its folder, whose id the unit has. */
  readonly composed?: ComposedPackage;
}

/** What trees have, for one layout: several steps of a check ask, and a rehearsal for each of its merges. */
interface KeptPlaces {
  readonly units: LruCache<ReadonlyMap<string, CatalogUnit>>;
  readonly folders: LruCache<readonly PackageFolder[]>;
}

/** Most units, and most folders, that are kept for one layout. */
const KEPT_PLACES = 20_000;

const kept = new WeakMap<Layout, KeptPlaces>();

/** What is kept for a layout, begun empty. */
function keptFor(layout: Layout): KeptPlaces {
  const found = kept.get(layout) ?? { units: new LruCache(KEPT_PLACES), folders: new LruCache(KEPT_PLACES) };
  kept.set(layout, found);
  return found;
}

/** The units (files or folders of one catalog) in a tree, by path. Found once for a tree and a layout. */
export async function catalogUnits(
  objects: ObjectReader,
  tree: string,
  layout: Layout,
): Promise<ReadonlyMap<string, CatalogUnit>> {
  const { units } = keptFor(layout);
  const known = units.get(tree);
  if (known) return known;
  const found = await findUnits(objects, tree, layout);
  const weight = 1 + found.size;
  units.keep(tree, found, weight);
  return found;
}

/**
 * The units (files or folders of one catalog) in a tree, by path. If several patterns match a path, the first counts; a file
 * that an earlier pattern gives to something else than a catalog is none.
 */
async function findUnits(
  objects: ObjectReader,
  tree: string,
  layout: Layout,
): Promise<ReadonlyMap<string, CatalogUnit>> {
  const units = new Map<string, CatalogUnit>();
  for (const [i, pattern] of layout.patterns.entries()) {
    if (pattern.kind !== 'catalog') continue;
    const places = await expand(objects, { tree }, withoutRest(pattern));
    // Many patterns match nothing: the earlier ones of each would be quadratic.
    if (places.length === 0) continue;
    const earlier = layout.patterns.slice(0, i);
    const others = earlier.filter(({ kind }) => kind !== 'catalog');
    const rootAt = rootSegment(pattern);
    for (const { path, id, mode, captured } of places) {
      if (isTree(mode) !== matchesFolders(pattern) || units.has(path)) continue;
      if (!isTree(mode) && firstMatch(others, path) !== undefined) continue;
      const root = path.split('/').slice(0, rootAt).join('/');
      const catalog = catalogName(pattern, captured) ?? root.split('/').at(-1) ?? '';
      units.set(path, { path, id, mode, catalog, package: captured['package'], root, earlier });
    }
  }
  await addComposed(units, objects, { tree, layout });
  return units;
}

/**
 * Adds the packages that are made from bundle directories, unless the catalog has them as files. Their paths are not
 * those of a file.
 */
async function addComposed(
  units: Map<string, CatalogUnit>,
  objects: ObjectReader,
  { tree, layout }: { readonly tree: string; readonly layout: Layout },
): Promise<void> {
  const { composed } = layout;
  if (!composed) return;
  const written = new Set([...units.values()].map((unit) => JSON.stringify([unit.catalog, unit.package])));
  for (const { segments } of layout.patterns.filter(({ kind }) => kind === 'bundle')) {
    const at = segments.findIndex(({ names }) => names.includes('package'));
    if (at < 0) continue;
    for (const { path, id, mode, captured } of await expand(objects, { tree }, segments.slice(0, at + 1))) {
      const name = captured['package'];
      if (name === undefined || !isTree(mode)) continue;
      if (!(await objects.tree(id)).some((entry) => isTree(entry.mode) && isVersionFolder(entry.name)))
        continue;
      for (const catalog of composed.names) {
        if (written.has(JSON.stringify([catalog, name]))) continue;
        const place = `${path}@${catalog}`;
        const own = { folder: path, package: name, catalog, image: composed.image };
        units.set(place, { path: place, id, mode, catalog, package: name, root: place, composed: own });
      }
    }
  }
}

/** Names of packages that have a place of their own in a tree, whatever lies there. */
export async function packagesIn(
  objects: ObjectReader,
  tree: string,
  layout: Layout,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const folder of await packageFolders(objects, tree, layout)) names.add(folder.package);
  return names;
}

interface PackageFolder extends Place {
  readonly package: string;
}

/** The folders (or files) that bear packages' names, in byte order of their paths. */
export async function packageFolders(
  objects: ObjectReader,
  tree: string,
  layout: Layout,
): Promise<readonly PackageFolder[]> {
  const { folders } = keptFor(layout);
  const found = folders.get(tree) ?? (await findPackageFolders(objects, tree, layout));
  folders.keep(tree, found, 1 + found.length);
  return found;
}

/** The folders, or files, that stand for one package by the layout's patterns, sorted by path. */
async function findPackageFolders(
  objects: ObjectReader,
  tree: string,
  layout: Layout,
): Promise<PackageFolder[]> {
  const folders = new Map<string, PackageFolder>();
  for (const { segments } of layout.patterns) {
    const at = segments.findIndex(({ names }) => names.includes('package'));
    if (at < 0) continue;
    for (const { captured, ...place } of await expand(objects, { tree }, segments.slice(0, at + 1))) {
      const name = captured['package'];
      // A file stands for a package only where the pattern ends with it.
      if (name === undefined || (!isTree(place.mode) && at < segments.length - 1)) continue;
      folders.set(place.path, { ...place, package: name });
    }
  }
  return [...folders.values()].sort((a, b) => compareText(a.path, b.path));
}

export interface BundleFolder extends Place {
  readonly package: string;
  /** The version that its path says. */
  readonly version: string;
}

/** The folders of bundles of some packages, in byte order of their paths; no other package's is entered. */
export async function bundleFolders(
  objects: ObjectReader,
  tree: string,
  { layout, packages }: { readonly layout: Layout; readonly packages: ReadonlySet<string> },
): Promise<BundleFolder[]> {
  const folders = new Map<string, BundleFolder>();
  const isWanted = ({ package: name }: Captured): boolean => name === undefined || packages.has(name);
  for (const pattern of layout.patterns.filter(({ kind }) => kind === 'bundle')) {
    const isOfVersions = pattern.segments.some(({ names }) => names.includes('version'));
    const segments = pattern.segments.slice(0, bundleDepth(pattern));
    const places = isOfVersions ? await expand(objects, { tree, isWanted }, segments) : [];
    for (const { captured, ...place } of places) {
      const name = captured['package'];
      if (name === undefined || !isTree(place.mode)) continue;
      folders.set(place.path, { ...place, package: name, version: captured['version'] ?? '' });
    }
  }
  return [...folders.values()].sort((a, b) => compareText(a.path, b.path));
}

interface Place {
  readonly path: string;
  readonly id: string;
  readonly mode: string;
}

interface Expanded extends Place {
  readonly captured: Captured;
}

interface ExpansionTree {
  readonly tree: string;
  /** Whether what was captured so far is looked for; all is without it. */
  readonly isWanted?: (captured: Captured) => boolean;
}

/** Files and folders that a pattern matches at most: a tree may be many folders in two objects. */
const MOST_PLACES = 200_000;

/**
 * Everything in a tree that the segments of a pattern match, one level of folders after the other.
 *
 * @throws PipelineError `too-large` for a tree bomb: a few objects that contain each other many times
 */
async function expand(
  objects: ObjectReader,
  { tree, isWanted = () => true }: ExpansionTree,
  segments: readonly PatternSegment[],
): Promise<Expanded[]> {
  let places: Expanded[] = [{ path: '', id: tree, mode: '40000', captured: {} }];
  for (const segment of segments) {
    const folders = places.filter(({ mode }) => isTree(mode));
    const listings = await Promise.all(folders.map(({ id }) => objects.tree(id)));
    places = [];
    for (const [i, folder] of folders.entries()) {
      for (const { name, id, mode } of listings[i] ?? []) {
        const captured = matchSegment(segment, name, folder.captured);
        if (!captured || !isWanted(captured)) continue;
        if (places.length === MOST_PLACES)
          throw new PipelineError(
            'too-large',
            `the layout matches more than ${MOST_PLACES} files and folders`,
          );
        places.push({ path: joinPath(folder.path, name), id, mode, captured });
      }
    }
  }
  return places;
}

/** Whether a pattern ends with `**`: then it matches folders, with all that is in them. */
function matchesFolders({ segments }: CompiledPattern): boolean {
  return segments.at(-1)?.rest ?? false;
}
