/**
 * The catalogs that a pull request touches, before and after: the packages that it touches in full, all others in
 * outline. Equal git blobs are read once, wherever they lie.
 */
import { joinedBlobs, placedBlobs } from '../../../catalog/fbc/blobs.ts';
import { type Blobs, type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import type { Predecessor } from '../../../catalog/olm/foresight/world.ts';
import { type CatalogFile, type FilesOf, fileKey, filesOf } from '../../change/catalog-files.ts';
import { isWithin } from '../../change/catalogs.ts';
import type { Change } from '../../change/change.ts';
import type { Trees } from '../../change/classification-input.ts';
import { type FileReader, fileReader, type KeptFiles } from '../../change/content.ts';
import { type CatalogUnit, catalogUnits } from '../../change/unit.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { isCatalogName } from '../../policy/layout.ts';
import type { Policy } from '../../policy/policy.ts';
import {
  ContextReader,
  type ContextReport,
  contextReport,
  joinedCatalog,
  type KeptOutlines,
  markerOf,
  NO_CONTEXT,
  packagesOf,
} from './context.ts';
import { type CatalogOrder, orderOf } from './order.ts';
import type { CatalogPath } from './published.ts';
import { type RenamedCatalog, renamedCatalogs, underNewNames } from './renamed-catalogs.ts';

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
  /** Names of the packages to check, as their blobs say. */
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
  /** The packages that are not touched, in outline. */
  readonly context: Sided<Catalog>;
  /** The touched packages in the catalogs of the platform's next versions, the nearest first. */
  readonly following: readonly FollowingCatalog[];
  /** Names of the catalogs of the platform's previous versions, the nearest first. */
  readonly preceding: readonly string[];
  /** Where the catalog is new: all packages of the catalog of the platform's previous version, in outline. */
  readonly predecessor: Predecessor | undefined;
  /** The catalog's own path for a path in the first of the catalogs. */
  readonly ownPath: (path: string) => string;
}

export interface Sided<T> {
  readonly before: T;
  readonly after: T;
}

export interface FollowingCatalog extends Sided<Catalog> {
  readonly name: string;
}

export interface TouchedCatalogs {
  readonly touched: readonly TouchedCatalog[];
  /** Reads the touched packages in all other catalogs. */
  readonly readOthers: () => Promise<OtherCatalogs>;
  /** What was read to know the packages that are not touched. */
  readonly context: ContextReader;
  /** Catalogs whose folders are renamed: they are known by their new names, on both sides. */
  readonly renamed: readonly RenamedCatalog[];
}

/** The touched packages in the catalogs that a pull request does not touch. */
export interface OtherCatalogs {
  /** Those that clusters of touched catalogs come from, or go to. */
  readonly neighbors: readonly TouchedCatalog[];
  /** The touched packages in all catalogs, touched or not, in the order of platform upgrades. */
  readonly everywhere: ReadonlyMap<string, Sided<Catalog>>;
  /** Where the packages stand in all of them. */
  readonly places: readonly CatalogPath[];
}

/** Two states of a repository, what changes between them, and the policy that holds. */
export interface CheckScene {
  readonly objects: ObjectReader;
  readonly policy: Policy;
  readonly trees: Trees;
  readonly change: Change;
}

/** The catalogs of a scene that are checked. */
export interface LoadedCatalogs extends Pick<TouchedCatalogs, 'touched' | 'renamed'> {
  /** The touched packages in all other catalogs. */
  readonly others: OtherCatalogs;
  /** What was read of the packages that are not touched. */
  readonly context: ContextReport;
}

/** How many of the platform's next versions are looked at. */
const FOLLOWING = 2;

const NO_BLOBS: Blobs = { packages: [], channels: [], bundles: [], deprecations: [], others: [] };

/**
 * Reads the catalogs before and after a change, unless it is beyond the limits.
 *
 * @param files what was read of them before
 * @param kept outlines that stay for other checks of the same repository
 */
export async function loadCatalogs(
  scene: CheckScene,
  files: KeptFiles,
  kept?: KeptOutlines,
): Promise<LoadedCatalogs> {
  const { objects, policy, change } = scene;
  if (!change.isRead) return { touched: [], others: NO_OTHERS, renamed: [], context: NO_CONTEXT };
  const reader = fileReader(objects, policy.limits, files);
  const { touched, readOthers, context, renamed } = await touchedCatalogs(scene, reader, kept);
  const others = await readOthers();
  return { touched, others, renamed, context: contextReport(context, policy) };
}

/**
 * Reads what a change touches, catalog by catalog, with all that surrounds it.
 *
 * @param kept outlines that stay for other checks of the same repository
 */
export async function touchedCatalogs(
  scene: CheckScene,
  reader: FileReader,
  kept?: KeptOutlines,
): Promise<TouchedCatalogs> {
  const { objects, policy, trees } = scene;
  const context = new ContextReader(objects, reader, { limits: policy.limits, kept });
  const old = await catalogUnits(objects, trees.base, policy.layout);
  const merged = named(await catalogUnits(objects, trees.merged, policy.layout));
  const renamed = renamedCatalogs(old, merged);
  const packages = packagesByCatalog(scene, renamed);
  if (packages.size === 0)
    return { touched: [], readOthers: () => Promise.resolve(NO_OTHERS), context, renamed };
  const base = underNewNames(old, renamed);
  const order = orderOf(policy, [...base.values(), ...merged.values()]);
  const before = filesOf(objects, { tree: trees.base, units: base });
  const after = filesOf(objects, { tree: trees.merged, units: merged });
  const place: Ground = {
    ...{ ...scene, order, reader, context, before },
    after: readable({ before, after }, scene.change),
  };
  const wanted = [...packages].sort(([a], [b]) => order.compare(a, b));
  const drafts = await Promise.all(
    wanted.map(async ([name, names]) => listed(place, name, names, order.after(name, FOLLOWING))),
  );
  await context.read(drafts.flatMap(({ far, near }) => [...far.before, ...far.after, ...near]));
  const members: MemberDraft[] = [];
  for (const draft of drafts)
    members.push({
      ...(await selectFiles(place, draft)),
      predecessor: await predecessorOf(place, draft.name),
    });
  const touched = await readAlike(place, members);
  const folders = new Set(
    members.flatMap(({ own }) => sidesOf(own).flatMap(({ unit }) => unit.package ?? [])),
  );
  const names = new Set([...base.values(), ...merged.values()].map(({ catalog }) => catalog));
  const listings = await Promise.all(wanted.flatMap(([name]) => [before(name), after(name)]));
  const familiar = new Set(listings.flat().flatMap(({ unit }) => unit.package ?? []));
  const wide = { ...place, order, folders, familiar, names: [...names].sort(order.compare) };
  return { touched, readOthers: () => readOthers(wide, packages, touched), context, renamed };
}

/** Catalogs with a name that is none are an error of their own: nothing is looked up by it. */
function named(units: ReadonlyMap<string, CatalogUnit>): ReadonlyMap<string, CatalogUnit> {
  return new Map([...units].filter(([, { catalog }]) => isCatalogName(catalog)));
}

/** The files of the merge; a part that it leaves unreadable stays as it is, so that the rest can be told. */
function readable({ before, after }: Sided<FilesOf>, { unread }: Change): FilesOf {
  if (unread.length === 0) return after;
  return async (catalog) => {
    const parts = unread.filter((part) => part.catalog === catalog);
    const isLost = ({ path }: CatalogFile): boolean => parts.some((part) => isWithin(path, part.path));
    return [
      ...(await after(catalog)).filter((file) => !isLost(file)),
      ...(await before(catalog)).filter(isLost),
    ];
  };
}

/** Clusters that upgrade their platform come to a new catalog with all that they had from the one before it. */
async function predecessorOf(
  { before, after, order, context }: Ground,
  name: string,
): Promise<Predecessor | undefined> {
  const [previous] = order.before(name, 1);
  if (previous === undefined || (await before(name)).length > 0) return undefined;
  const files = await after(previous);
  await context.readElsewhere(files);
  return {
    name: previous,
    catalog: joinedCatalog(files.flatMap((file) => context.outline(file)?.catalog ?? [])),
  };
}

const NO_OTHERS: OtherCatalogs = { neighbors: [], everywhere: new Map(), places: [] };

async function readOthers(
  place: Wide,
  packages: ReadonlyMap<string, ReadonlySet<string>>,
  touched: readonly TouchedCatalog[],
): Promise<OtherCatalogs> {
  const neighbors = await readAlike(place, await neighborDrafts(place, packages));
  const read = [...touched, ...neighbors];
  return { neighbors, ...(await readEverywhere(place, packages, read)) };
}

function sidesOf<T>({ before, after }: Sided<readonly T[]>): T[] {
  return [...before, ...after];
}

/** Reads catalogs in which the same files change in the same way once. */
async function readAlike(place: Ground, drafts: readonly MemberDraft[]): Promise<TouchedCatalog[]> {
  const alike = new Map<string, MemberDraft[]>();
  for (const draft of drafts) {
    const key = JSON.stringify([
      [...draft.packages].sort(),
      identityOf(draft.own.before),
      identityOf(draft.own.after),
    ]);
    alike.set(key, [...(alike.get(key) ?? []), draft]);
  }
  const read: TouchedCatalog[] = [];
  for (const members of alike.values()) read.push(await readMembers(place, members));
  return read;
}

interface Ground extends CheckScene, Sided<FilesOf> {
  readonly order: CatalogOrder;
  readonly reader: FileReader;
  readonly context: ContextReader;
}

/** What untouched catalogs are looked for in. */
interface Wide extends Ground {
  /** Folders in which the touched packages lie. */
  readonly folders: ReadonlySet<string>;
  /** All folders of packages in the touched catalogs: what those of the same names hold elsewhere is known. */
  readonly familiar: ReadonlySet<string>;
  /** Names of all catalogs, in the order of platform upgrades. */
  readonly names: readonly string[];
}

/** Whether a file may hold packages, as far as its folder tells: those of one file hold all packages. */
function mayHold(
  { unit }: CatalogFile,
  packages: ReadonlySet<string>,
  folders: ReadonlySet<string>,
): boolean {
  return unit.package === undefined || packages.has(unit.package) || folders.has(unit.package);
}

/**
 * The files that may hold packages: those in folders of their names and, where these lack one of them, those in folders
 * that the touched catalogs do not have, as far as they mention it.
 */
async function filesOfPackages(
  { context, folders, familiar }: Wide,
  files: readonly CatalogFile[],
  packages: ReadonlySet<string>,
): Promise<readonly CatalogFile[]> {
  const likely = files.filter((file) => mayHold(file, packages, folders));
  await context.readElsewhere(likely);
  const found = new Set(likely.flatMap((file) => [...(context.outline(file)?.packages ?? NOBODY)]));
  const missing = new Set([...packages].filter((name) => !found.has(name)));
  if (missing.size === 0) return likely;
  const others = files.filter((file) => !likely.includes(file) && !familiar.has(file.unit.package ?? ''));
  const mentioning = await context.mentioning(others, missing);
  await context.readElsewhere(mentioning);
  return [...likely, ...mentioning];
}

/** The touched packages where clusters of touched catalogs come from, and where they go. */
async function neighborDrafts(
  place: Wide,
  touched: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<MemberDraft[]> {
  const { order, reader } = place;
  const wanted = new Map<string, Set<string>>();
  for (const [name, packages] of touched) {
    for (const other of [...order.before(name, FOLLOWING), ...order.after(name, FOLLOWING)]) {
      const own = [...packages].filter((one) => !touched.get(other)?.has(one));
      if (own.length > 0) wanted.set(other, new Set([...(wanted.get(other) ?? []), ...own]));
    }
  }
  const drafts: MemberDraft[] = [];
  for (const [name, packages] of [...wanted].sort(([a], [b]) => order.compare(a, b))) {
    const holding = async (files: readonly CatalogFile[]): Promise<readonly CatalogFile[]> => {
      const likely = await filesOfPackages(place, files, packages);
      const read = await Promise.all(likely.map((file) => reader.read(file)));
      return likely.filter((_, i) => hasOneOf(packagesOf(read[i]?.blobs ?? NO_BLOBS), packages));
    };
    const own = {
      before: await holding(await place.before(name)),
      after: await holding(await place.after(name)),
    };
    if (sidesOf(own).length === 0) continue;
    const following = await followingCatalogs(place, order.after(name, FOLLOWING), packages);
    drafts.push({ name, packages, own, around: { before: [], after: [] }, following });
  }
  return drafts;
}

function hasOneOf(names: ReadonlySet<string>, wanted: ReadonlySet<string>): boolean {
  return [...names].some((name) => wanted.has(name));
}

/** What the next catalogs have of packages, in the files where they are likely to be. */
async function followingCatalogs(
  place: Wide,
  names: readonly string[],
  packages: ReadonlySet<string>,
): Promise<FollowingCatalog[]> {
  const following: FollowingCatalog[] = [];
  for (const name of names) {
    const side = async (of: FilesOf): Promise<Catalog> => {
      return outlinesOf(place.context, await filesOfPackages(place, await of(name), packages), packages);
    };
    following.push({ name, before: await side(place.before), after: await side(place.after) });
  }
  return following;
}

/** What all catalogs have of the touched packages: what was read for some of them, and outlines of the others. */
async function readEverywhere(
  place: Wide,
  touched: ReadonlyMap<string, ReadonlySet<string>>,
  read: readonly TouchedCatalog[],
): Promise<Pick<OtherCatalogs, 'everywhere' | 'places'>> {
  const packages = new Set([...touched.values()].flatMap((of) => [...of]));
  const known = new Map<string, TouchedCatalog[]>();
  for (const one of read) for (const name of one.names) known.set(name, [...(known.get(name) ?? []), one]);
  const everywhere = new Map<string, Sided<Catalog>>();
  const places = new Map(read.flatMap((one) => one.places).map((place) => [place.path, place]));
  for (const name of place.names) {
    const parts = known.get(name) ?? [];
    const missing = new Set([...packages].filter((one) => !parts.some((part) => part.packages.has(one))));
    const side = async (of: FilesOf, when: keyof Sided<unknown>): Promise<Catalog> => {
      const files = missing.size > 0 ? await filesOfPackages(place, await of(name), missing) : [];
      for (const { unit } of files)
        places.set(unit.path, { catalog: name, path: unit.path, root: unit.root });
      return joinedCatalog([
        ...parts.flatMap((part) => {
          const state = part[when];
          return state ? [catalogIn(state)] : [];
        }),
        outlinesOf(place.context, files, missing),
      ]);
    };
    everywhere.set(name, {
      before: await side(place.before, 'before'),
      after: await side(place.after, 'after'),
    });
  }
  return { everywhere, places: [...places.values()] };
}

/** What files have of packages, as far as they were read. */
function outlinesOf(
  context: ContextReader,
  files: readonly CatalogFile[],
  packages: ReadonlySet<string>,
): Catalog {
  return joinedCatalog(
    files.flatMap((file) => {
      const outline = context.outline(file);
      return outline && hasOneOf(outline.packages, packages) ? [outline.catalog] : [];
    }),
  );
}

const grouped = new WeakMap<CatalogState, Catalog>();

/** The blobs of a state by package. */
export function catalogIn(state: CatalogState): Catalog {
  const catalog = grouped.get(state) ?? catalogOf(state.blobs);
  grouped.set(state, catalog);
  return catalog;
}

/** Names of the packages that change, by catalog. */
function packagesByCatalog(
  { change }: CheckScene,
  renamed: readonly RenamedCatalog[],
): Map<string, Set<string>> {
  const touched = new Map<string, Set<string>>();
  const names = new Map(renamed.map(({ from, to }) => [from, to]));
  const add = (written: string, name: string): void => {
    const catalog = names.get(written) ?? written;
    touched.set(catalog, (touched.get(catalog) ?? new Set()).add(name));
  };
  for (const { name, catalogs } of change.packages.values())
    for (const catalog of catalogs) add(catalog, name);
  // A folder may be called otherwise than the package in it.
  for (const [catalog, names] of change.contents) for (const name of names) add(catalog, name);
  // What cannot be read cannot be compared.
  for (const { catalog, packages } of change.unread)
    for (const name of packages) touched.get(catalog)?.delete(name);
  return new Map([...touched].filter(([catalog, names]) => names.size > 0 && isCatalogName(catalog)));
}

/** The files of a touched catalog, before their packages are known. */
interface ListedCatalog {
  readonly name: string;
  readonly packages: ReadonlySet<string>;
  /** Files that change, and those that lie where the packages do. */
  readonly own: Sided<readonly CatalogFile[]>;
  /** All others. */
  readonly far: Sided<readonly CatalogFile[]>;
  readonly next: readonly NextFiles[];
  /** Files of the next catalogs in which the packages are looked for first. */
  readonly near: readonly CatalogFile[];
}

interface NextFiles extends Sided<readonly CatalogFile[]> {
  readonly name: string;
}

async function listed(
  place: Ground,
  name: string,
  packages: ReadonlySet<string>,
  following: readonly string[],
): Promise<ListedCatalog> {
  const before = await place.before(name);
  const after = await place.after(name);
  const [old, now] = [before, after].map((files) => new Set(files.map(fileKey)));
  const changed = [
    ...before.filter((file) => !now?.has(fileKey(file))),
    ...after.filter((file) => !old?.has(fileKey(file))),
  ];
  const isChanged = new Set(changed.map(fileKey));
  const folders = new Set(changed.flatMap(({ unit }) => unit.package ?? []));
  const isNear = ({ unit }: CatalogFile): boolean =>
    unit.package !== undefined && (packages.has(unit.package) || folders.has(unit.package));
  const isOwn = (file: CatalogFile): boolean => isChanged.has(fileKey(file)) || isNear(file);
  const next = await Promise.all(
    following.map(async (other) => ({
      name: other,
      before: await place.before(other),
      after: await place.after(other),
    })),
  );
  const split = (is: (file: CatalogFile) => boolean): Sided<readonly CatalogFile[]> => ({
    before: before.filter(is),
    after: after.filter(is),
  });
  const near = next.flatMap((files) => [...files.before, ...files.after]).filter((file) => isNear(file));
  return {
    name,
    packages,
    own: split(isOwn),
    far: split((file) => !isOwn(file)),
    next,
    near,
  };
}

/** A touched catalog, whose files are known to hold the packages or not. */
interface MemberDraft {
  readonly name: string;
  readonly packages: ReadonlySet<string>;
  readonly own: Sided<readonly CatalogFile[]>;
  readonly around: Sided<readonly CatalogFile[]>;
  readonly following: readonly FollowingCatalog[];
  readonly predecessor?: Predecessor | undefined;
}

async function selectFiles(place: Ground, listed: ListedCatalog): Promise<MemberDraft> {
  const { context, reader } = place;
  const { name, packages, own, far } = listed;
  const isOne = (names: ReadonlySet<string>): boolean => hasOneOf(names, packages);
  const side = async (
    when: keyof Sided<unknown>,
  ): Promise<Record<'own' | 'around', readonly CatalogFile[]>> => {
    const read = await Promise.all(own[when].map((file) => reader.read(file)));
    // What cannot be read may be theirs.
    const holds = read.map(
      ({ blobs, findings }) => findings.length > 0 || hasNameless(blobs) || isOne(packagesOf(blobs)),
    );
    const elsewhere = far[when].filter((file) => isOne(context.outline(file)?.packages ?? NOBODY));
    return {
      own: [...own[when].filter((_, i) => holds[i]), ...elsewhere],
      around: [
        ...own[when].filter((_, i) => !holds[i]),
        ...far[when].filter((one) => !elsewhere.includes(one)),
      ],
    };
  };
  const [before, after] = await Promise.all([side('before'), side('after')]);
  await context.read([...before.around, ...after.around]);
  const following: FollowingCatalog[] = [];
  for (const files of listed.next) {
    following.push({
      name: files.name,
      before: await followingCatalog(context, files.before, packages),
      after: await followingCatalog(context, files.after, packages),
    });
  }
  return {
    name,
    packages,
    own: { before: before.own, after: after.own },
    around: { before: before.around, after: after.around },
    following,
  };
}

const NOBODY: ReadonlySet<string> = new Set();

/** Whether blobs that must name a package name none: nobody else will look at them. */
function hasNameless({ packages, channels, bundles, deprecations }: Blobs): boolean {
  const names = [...packages.map(({ name }) => name), ...channels.map((blob) => blob.package)];
  return [
    ...names,
    ...bundles.map((blob) => blob.package),
    ...deprecations.map((blob) => blob.package),
  ].includes('');
}

/** What a next catalog has of the packages: all its files are read only where some lie elsewhere than here. */
async function followingCatalog(
  context: ContextReader,
  files: readonly CatalogFile[],
  packages: ReadonlySet<string>,
): Promise<Catalog> {
  const found = (): Set<string> =>
    new Set(files.flatMap((file) => [...(context.outline(file)?.packages ?? NOBODY)]));
  const known = found();
  if ([...packages].some((name) => !known.has(name))) await context.read(files);
  return outlinesOf(context, files, packages);
}

/** What files hold, whatever catalog they are in: paths within the catalog, and git ids. */
function identityOf(files: readonly CatalogFile[]): string[] {
  return files.map(identity).sort();
}

function identity({ path, mode, id, unit }: CatalogFile): string {
  return `${path.slice(unit.root.length)} ${mode} ${id}`;
}

async function readMembers(place: Ground, members: readonly MemberDraft[]): Promise<TouchedCatalog> {
  const [first] = members;
  if (!first) throw new TypeError('internal error: an empty group of catalogs');
  const { before, after } = first.own;
  return {
    names: members.map(({ name }) => name),
    packages: first.packages,
    before: before.length === 0 ? undefined : await readState(place, before),
    after: after.length === 0 ? undefined : await readState(place, after),
    members: members.map((member) => ({
      name: member.name,
      predecessor: member.predecessor,
      context: contextOf(place, member),
      following: member.following,
      preceding: place.order.before(member.name, FOLLOWING),
      ownPath: ownPaths(first, member),
    })),
    places: members.flatMap(placesOf),
  };
}

function placesOf({ name, own }: MemberDraft): CatalogPath[] {
  const roots = new Map([...own.before, ...own.after].map(({ unit }) => [unit.path, unit.root]));
  return [...roots].map(([path, root]) => ({ catalog: name, path, root }));
}

/** The untouched packages; mostly the same before and after. */
function contextOf({ context }: Ground, { around }: MemberDraft): Sided<Catalog> {
  const join = (files: readonly CatalogFile[]): Catalog =>
    joinedCatalog(files.flatMap((file) => context.outline(file)?.catalog ?? []));
  const before = join(around.before);
  const isSame = around.before.map(fileKey).join('\n') === around.after.map(fileKey).join('\n');
  return { before, after: isSame ? before : join(around.after) };
}

/** From the paths of a catalog, and from the marks of files in outline, to the paths of one that is alike. */
function ownPaths(first: MemberDraft, own: MemberDraft): (path: string) => string {
  const all = ({ own: { before, after } }: MemberDraft): CatalogFile[] => [...before, ...after];
  const byIdentity = new Map(all(own).map((file) => [identity(file), file.path]));
  const paths = new Map(all(first).map((file) => [file.path, byIdentity.get(identity(file)) ?? file.path]));
  const marks = new Map(
    [...own.around.before, ...own.around.after].map((file) => [markerOf(file), file.path]),
  );
  return (path) => paths.get(path) ?? marks.get(path) ?? path;
}

async function readState({ reader }: Ground, files: readonly CatalogFile[]): Promise<CatalogState> {
  const parts = await Promise.all(
    files.map(async (file): Promise<CatalogState> => {
      const { blobs, findings } = await reader.read(file);
      return { blobs: file.made ? blobs : placedBlobs(blobs, file.path), unread: findings };
    }),
  );
  return {
    blobs: joinedBlobs(parts.map(({ blobs }) => blobs)),
    unread: parts.flatMap(({ unread }) => unread),
  };
}
