/**
 * The catalogs that a pull request touches, before and after, as far as it touches them.
 * Equal git blobs are read once, wherever they lie; catalogs that change alike are one.
 */
import { joinedBlobs, placedBlobs } from '../../catalog/blobs.ts';
import type { Finding } from '../../catalog/finding.ts';
import type { Blobs } from '../../catalog/model.ts';
import type { Change } from '../change/change.ts';
import { type FileReader, loadedFiles } from '../change/content.ts';
import type { Trees } from '../change/scene.ts';
import { type CatalogUnit, catalogUnits } from '../change/unit.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { Policy } from '../policy/policy.ts';
import { type CatalogOrder, orderOf } from './order.ts';
import type { CatalogPath } from './published.ts';

/** One state of the touched packages of a catalog. */
export interface CatalogState {
  readonly blobs: Blobs;
  /** What could not be read, or was read otherwise than written. */
  readonly unread: readonly Finding[];
}

/** Catalogs in which the same packages change in the same way: they are read once, and checked each for itself. */
export interface TouchedCatalog {
  /** Names, in the order of platform upgrades; places are those of the first. */
  readonly names: readonly string[];
  /** Names of the packages to judge. */
  readonly packages: ReadonlySet<string>;
  readonly before: CatalogState | undefined;
  readonly after: CatalogState | undefined;
  /** One for each name, in the same order. */
  readonly members: readonly Member[];
  /** Where the packages stand in each of the catalogs, before or after. */
  readonly places: readonly CatalogPath[];
}

/** What one of several catalogs has for itself. */
export interface Member {
  readonly name: string;
  /** The same packages in the catalogs of the platform's next versions, the nearest first. */
  readonly following: readonly FollowingCatalog[];
  /** The catalog's own path for a path in the first of the catalogs. */
  readonly ownPath: (path: string) => string;
}

export interface FollowingCatalog {
  readonly name: string;
  readonly before: CatalogState;
  readonly after: CatalogState;
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
  const order = orderOf(policy, [...base.values(), ...merged.values()]);
  const alike = new Map<string, Draft>();
  for (const [name, packages] of packagesByCatalog(scene, order)) {
    const before = selectUnits(base, name, packages, scene.change);
    const after = selectUnits(merged, name, packages, scene.change);
    const following = order.after(name, FOLLOWING).map((other) => ({
      name: other,
      before: selectUnits(base, other, packages, undefined),
      after: selectUnits(merged, other, packages, undefined),
    }));
    const key = JSON.stringify([[...packages].sort(), identityOf(before), identityOf(after)]);
    const draft = alike.get(key) ?? { packages, members: [] };
    draft.members.push({ name, before, after, following });
    alike.set(key, draft);
  }
  return Promise.all([...alike.values()].map((draft) => readDraft(scene, draft)));
}

function placesOf({ name, before, after }: MemberDraft): CatalogPath[] {
  const paths = new Set([...before, ...after].map(({ path }) => path));
  return [...paths].map((path) => ({ catalog: name, path }));
}

interface Draft {
  readonly packages: ReadonlySet<string>;
  readonly members: MemberDraft[];
}

interface MemberDraft {
  readonly name: string;
  readonly before: readonly CatalogUnit[];
  readonly after: readonly CatalogUnit[];
  readonly following: readonly FollowingDraft[];
}

interface FollowingDraft {
  readonly name: string;
  readonly before: readonly CatalogUnit[];
  readonly after: readonly CatalogUnit[];
}

/** Names of the packages that change, by catalog, in the order of catalogs. */
function packagesByCatalog({ change }: CheckScene, order: CatalogOrder): [string, Set<string>][] {
  const touched = new Map<string, Set<string>>();
  const add = (catalog: string, name: string): void => {
    touched.set(catalog, (touched.get(catalog) ?? new Set()).add(name));
  };
  for (const { name, catalogs } of change.packages.values())
    for (const catalog of catalogs) add(catalog, name);
  return [...touched].sort(([a], [b]) => order.compare(a, b));
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

/** What units hold, whatever catalog they are in: paths within the catalog, and git ids. */
function identityOf(units: readonly CatalogUnit[]): string[] {
  return units.map(identity).sort();
}

function identity({ path, root, id }: CatalogUnit): string {
  return `${path.slice(root.length)} ${id}`;
}

async function readDraft(scene: CheckScene, { packages, members }: Draft): Promise<TouchedCatalog> {
  const { trees } = scene;
  const { before = [], after = [] } = members[0] ?? {};
  const states = new Map<string, Promise<CatalogState>>();
  const stateOf = (tree: string, units: readonly CatalogUnit[]): Promise<CatalogState> => {
    const key = units.map(({ path, id }) => `${path} ${id}`).join('\n');
    const state = states.get(key) ?? readState(scene, tree, units);
    states.set(key, state);
    return state;
  };
  const followingState = async (draft: FollowingDraft): Promise<FollowingCatalog> => ({
    name: draft.name,
    before: await stateOf(trees.base, draft.before),
    after: await stateOf(trees.merged, draft.after),
  });
  return {
    names: members.map(({ name }) => name),
    packages,
    before: before.length === 0 ? undefined : await readState(scene, trees.base, before),
    after: after.length === 0 ? undefined : await readState(scene, trees.merged, after),
    members: await Promise.all(
      members.map(async (member) => ({
        name: member.name,
        following: await Promise.all(member.following.map(followingState)),
        ownPath: ownPaths([...before, ...after], [...member.before, ...member.after]),
      })),
    ),
    places: members.flatMap(placesOf),
  };
}

/** From the paths of a catalog to those of one that is alike. */
function ownPaths(first: readonly CatalogUnit[], own: readonly CatalogUnit[]): (path: string) => string {
  const byIdentity = new Map(own.map((unit) => [identity(unit), unit.path]));
  const paths = new Map(first.map((unit) => [unit.path, byIdentity.get(identity(unit)) ?? unit.path]));
  return (path) => {
    const names = path.split('/');
    for (let length = names.length; length > 0; length--) {
      const folder = paths.get(names.slice(0, length).join('/'));
      if (folder !== undefined) return [folder, ...names.slice(length)].join('/');
    }
    return path;
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
