/**
 * The catalogs that a pull request touches, before and after, as far as it touches them.
 * Equal git blobs are read once, wherever they lie; catalogs that change alike are one.
 */
import { joinedBlobs, placedBlobs } from '../../catalog/blobs.ts';
import { compareText, type Finding } from '../../catalog/finding.ts';
import type { Blobs } from '../../catalog/model.ts';
import type { Change } from '../change/change.ts';
import { type FileReader, loadedFiles } from '../change/content.ts';
import type { Trees } from '../change/scene.ts';
import { type CatalogUnit, catalogUnits } from '../change/unit.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { Policy } from '../policy/policy.ts';
import type { CatalogPath } from './published.ts';

/** One state of the touched packages of a catalog. */
export interface CatalogState {
  readonly blobs: Blobs;
  /** What could not be read, or was read otherwise than written. */
  readonly unread: readonly Finding[];
}

/** Catalogs in which the same packages change in the same way. */
export interface TouchedCatalog {
  /** Names, in the policy's order or else in byte order; places are those of the first. */
  readonly names: readonly string[];
  /** Names of the packages to judge. */
  readonly packages: ReadonlySet<string>;
  readonly before: CatalogState | undefined;
  readonly after: CatalogState | undefined;
  /** The same packages in the catalogs of the platform's next versions, the nearest first. */
  readonly following: readonly { readonly name: string; readonly state: CatalogState }[];
  /** Where the packages stand in each of the catalogs, before or after. */
  readonly places: readonly CatalogPath[];
}

export interface CheckScene {
  readonly objects: ObjectReader;
  readonly reader: FileReader;
  readonly policy: Policy;
  readonly trees: Trees;
  readonly change: Change;
}

/** How many of the platform's next versions are looked at. */
const FOLLOWING = 2;

/** Reads what a change touches, catalog by catalog. */
export async function touchedCatalogs(scene: CheckScene): Promise<TouchedCatalog[]> {
  const { objects, policy, trees } = scene;
  const base = await catalogUnits(objects, trees.base, policy.layout);
  const merged = await catalogUnits(objects, trees.merged, policy.layout);
  const alike = new Map<string, Draft>();
  for (const [name, packages] of packagesByCatalog(scene)) {
    const before = selectUnits(base, name, packages, scene.change);
    const after = selectUnits(merged, name, packages, scene.change);
    const following = followers(policy, name).map((other) => ({
      name: other,
      units: selectUnits(merged, other, packages, undefined),
    }));
    const key = JSON.stringify([
      [...packages].sort(),
      identityOf(before),
      identityOf(after),
      following.map(({ units }) => identityOf(units)),
    ]);
    const places = placesOf(name, [...before, ...after]);
    const known = alike.get(key);
    if (known) {
      known.names.push(name);
      known.places.push(...places);
    } else alike.set(key, { names: [name], packages, before, after, following, places });
  }
  return Promise.all([...alike.values()].map((draft) => readDraft(scene, draft)));
}

function placesOf(catalog: string, units: readonly CatalogUnit[]): CatalogPath[] {
  return [...new Set(units.map(({ path }) => path))].map((path) => ({ catalog, path }));
}

interface Draft {
  readonly names: string[];
  readonly places: CatalogPath[];
  readonly packages: ReadonlySet<string>;
  readonly before: readonly CatalogUnit[];
  readonly after: readonly CatalogUnit[];
  readonly following: readonly { readonly name: string; readonly units: readonly CatalogUnit[] }[];
}

/** Names of the packages that change, by catalog, in the order of catalogs. */
function packagesByCatalog({ change, policy }: CheckScene): [string, Set<string>][] {
  const touched = new Map<string, Set<string>>();
  const add = (catalog: string, name: string): void => {
    touched.set(catalog, (touched.get(catalog) ?? new Set()).add(name));
  };
  for (const { name, catalogs } of change.packages.values())
    for (const catalog of catalogs) add(catalog, name);
  const rank = new Map(policy.graph.catalogOrder.map((name, i) => [name, i]));
  const place = (name: string): number => rank.get(name) ?? rank.size;
  return [...touched].sort(([a], [b]) => place(a) - place(b) || compareText(a, b));
}

/** The units of a catalog that hold the packages, or that the change reaches into. */
function selectUnits(
  units: ReadonlyMap<string, CatalogUnit>,
  catalog: string,
  packages: ReadonlySet<string>,
  change: Change | undefined,
): CatalogUnit[] {
  const reached = ({ path }: CatalogUnit): boolean =>
    change?.paths.some((changed) => changed.path === path || changed.path.startsWith(`${path}/`)) ?? false;
  return [...units.values()].filter(
    (unit) =>
      unit.catalog === catalog && (unit.package === undefined || packages.has(unit.package) || reached(unit)),
  );
}

/** The catalogs of the platform's next versions. */
function followers({ graph }: Policy, name: string): readonly string[] {
  const at = graph.catalogOrder.indexOf(name);
  return at < 0 ? [] : graph.catalogOrder.slice(at + 1, at + 1 + FOLLOWING);
}

/** What units hold, whatever catalog they are in: paths within the catalog, and git ids. */
function identityOf(units: readonly CatalogUnit[]): string[] {
  return units.map(({ path, root, id }) => `${path.slice(root.length)} ${id}`).sort();
}

async function readDraft(scene: CheckScene, draft: Draft): Promise<TouchedCatalog> {
  const { trees } = scene;
  const following = await Promise.all(
    draft.following.map(async ({ name, units }) => ({
      name,
      state: await readState(scene, trees.merged, units),
    })),
  );
  return {
    names: draft.names,
    packages: draft.packages,
    before: draft.before.length === 0 ? undefined : await readState(scene, trees.base, draft.before),
    after: draft.after.length === 0 ? undefined : await readState(scene, trees.merged, draft.after),
    following,
    places: draft.places,
  };
}

async function readState(
  { objects, reader }: CheckScene,
  tree: string,
  units: readonly CatalogUnit[],
): Promise<CatalogState> {
  const files = await Promise.all(units.map((unit) => loadedFiles(objects, tree, unit)));
  const parts = await Promise.all(
    files.flat().map(async (file): Promise<CatalogState> => {
      const { blobs, findings } = await reader.read(file);
      return { blobs: file.made ? blobs : placedBlobs(blobs, file.path), unread: findings };
    }),
  );
  return {
    blobs: joinedBlobs(parts.map(({ blobs }) => blobs)),
    unread: parts.flatMap(({ unread }) => unread),
  };
}
