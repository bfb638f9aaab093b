/**
 * The catalogs that a pull request touches, before and after: the packages that it touches in full, all others in
 * outline. Equal git blobs are read once, wherever they lie.
 */
import { compareMinors, minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { groupedBy } from '../../../catalog/go/grouped.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { quoted } from '../../../catalog/names.ts';
import type { Predecessor } from '../../../catalog/olm/foresight/world.ts';
import { rule as packageRemoved } from '../../../catalog/rules/graph/package-removed.ts';
import { mayPassOne } from '../../../catalog/rules/platform-losses.ts';
import { type CatalogFile, type FilesOf, filesOf } from '../../change/catalog-files.ts';
import { isWithin } from '../../change/catalogs.ts';
import type { Change } from '../../change/change.ts';
import { type FileReader, fileReader, type KeptFiles } from '../../change/content.ts';
import { type CatalogUnit, catalogUnits } from '../../change/unit.ts';
import { isCatalogName } from '../../policy/layout.ts';
import type { Policy } from '../../policy/policy.ts';
import { severitiesOf } from '../../policy/severity.ts';
import {
  ContextReader,
  type ContextReport,
  contextReport,
  joinedCatalog,
  type KeptOutlines,
  NO_CONTEXT,
} from './context.ts';
import { listCatalogFiles, type MemberDraft, readAlike, selectFiles } from './members.ts';
import { orderOf } from './order.ts';
import { NO_OTHERS, type OtherCatalogs, readOthers } from './other-catalogs.ts';
import { type CatalogReading, type CheckScene, FOLLOWING } from './scene.ts';
import { type BeforeAndAfter, sidesOf, type TouchedCatalog } from './touched-catalog.ts';

interface TouchedCatalogs {
  readonly touched: readonly TouchedCatalog[];
  /** Reads the touched packages in all other catalogs. */
  readonly readOthers: () => Promise<OtherCatalogs>;
  /** What was read to know the packages that are not touched. */
  readonly context: ContextReader;
  /** Catalogs whose folders are renamed: they are known by their new names, on both sides. */
  readonly renamed: readonly RenamedCatalog[];
}

/** The catalogs of a scene that are checked. */
export interface LoadedCatalogs extends Pick<TouchedCatalogs, 'touched' | 'renamed'> {
  /** The touched packages in all other catalogs. */
  readonly others: OtherCatalogs;
  /** What was read of the packages that are not touched. */
  readonly context: ContextReport;
  /** Reads files anew only where neither their contents nor their outlines are known, and gives either. */
  readonly reader: FileReader;
}

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
  const reader = fileReader(objects, policy.limits, files);
  if (!change.isRead) return { touched: [], others: NO_OTHERS, renamed: [], context: NO_CONTEXT, reader };
  const { touched, readOthers, context, renamed } = await touchedCatalogs(scene, reader, kept);
  const others = await readOthers();
  return {
    touched,
    others,
    renamed,
    context: contextReport(context, policy),
    reader: context.outlinesBefore(reader),
  };
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
  const merged = withValidNames(await catalogUnits(objects, trees.merged, policy.layout));
  const renamed = renamedCatalogs(old, merged);
  const packages = packagesByCatalog(scene, renamed);
  if (packages.size === 0)
    return { touched: [], readOthers: () => Promise.resolve(NO_OTHERS), context, renamed };
  const base = underNewNames(old, renamed);
  const names = new Set([...base.values(), ...merged.values()].map(({ catalog }) => catalog));
  const order = orderOf(policy.graph.catalogOrder, names);
  const before = filesOf(objects, { tree: trees.base, units: base });
  const after = filesOf(objects, { tree: trees.merged, units: merged });
  const reading: CatalogReading = {
    ...{ ...scene, order, reader, context, before },
    after: readableFiles({ before, after }, scene.change),
  };
  const remaining = new Set([...merged.values()].map(({ catalog }) => catalog));
  const members = await membersOf(reading, packages, remaining);
  const touched = await readAlike(reading, members);
  // Other catalogs are searched by the names of folders: those of the touched packages, and all that are known from here.
  const folders = new Set(
    members.flatMap(({ own }) => sidesOf(own).flatMap(({ unit }) => unit.package ?? [])),
  );
  const listings = await Promise.all([...packages.keys()].flatMap((name) => [before(name), after(name)]));
  const familiar = new Set(listings.flat().flatMap(({ unit }) => unit.package ?? []));
  const search = { ...reading, folders, familiar, names: [...names].sort(order.compare) };
  return { touched, readOthers: () => readOthers(search, packages, touched), context, renamed };
}

/**
 * What is to be read of each catalog, in their order.
 *
 * @param packages names of the packages that change, by catalog
 * @param remaining names of the catalogs that the merge has
 */
async function membersOf(
  reading: CatalogReading,
  packages: ReadonlyMap<string, ReadonlySet<string>>,
  remaining: ReadonlySet<string>,
): Promise<MemberDraft[]> {
  const { order, context } = reading;
  // If the merge removes a catalog, the next one that remains shows whether its packages go on there or are lost.
  const nextOf = (name: string): readonly string[] => {
    const all = order.after(name, Number.POSITIVE_INFINITY);
    const kept = remaining.has(name) ? [] : all.filter((other) => remaining.has(other)).slice(0, 1);
    return [...new Set([...all.slice(0, FOLLOWING), ...kept])];
  };
  const wanted = [...packages].sort(([a], [b]) => order.compare(a, b));
  const drafts = await Promise.all(
    wanted.map(async ([name, names]) => listCatalogFiles(reading, name, names, nextOf(name))),
  );
  await context.read(drafts.flatMap(({ far, near }) => [...far.before, ...far.after, ...near]));
  const members: MemberDraft[] = [];
  for (const draft of drafts)
    members.push({
      ...(await selectFiles(reading, draft)),
      predecessors: await predecessorsOf(reading, draft.name),
    });
  return members;
}

/** Catalogs with a name that is none are an error of their own: nothing is looked up by it. */
function withValidNames(units: ReadonlyMap<string, CatalogUnit>): ReadonlyMap<string, CatalogUnit> {
  return new Map([...units].filter(([, { catalog }]) => isCatalogName(catalog)));
}

/**
 * Gives the files of the merge. A part that the merge leaves unreadable keeps its old files, so that the rest can be
 * checked.
 */
function readableFiles({ before, after }: BeforeAndAfter<FilesOf>, { unread }: Change): FilesOf {
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

/**
 * The catalogs from which clusters come to a new catalog when they update the platform; none for a catalog that is not
 * new.
 */
async function predecessorsOf(
  { before, after, order, context }: CatalogReading,
  name: string,
): Promise<Predecessor[]> {
  if ((await before(name)).length > 0) return [];
  // Clusters come from the previous version or, where they may pass that one, from the one before it.
  const previous = order
    .before(name, 2)
    .filter((other, i) => i === 0 || mayPassOne(minorOfCatalog(other), minorOfCatalog(name)));
  const found: Predecessor[] = [];
  for (const other of previous) {
    const files = await after(other);
    await context.readElsewhere(files);
    const catalog = joinedCatalog(files.flatMap((file) => context.outline(file)?.catalog ?? []));
    found.push({ name: other, catalog });
  }
  return found;
}

/** Names of the packages that change, by catalog; a renamed catalog has its new name. */
function packagesByCatalog(
  { change }: CheckScene,
  renamed: readonly RenamedCatalog[],
): Map<string, Set<string>> {
  const touched = new Map<string, Set<string>>();
  const newNames = new Map(renamed.map(({ from, to }) => [from, to]));
  const newName = (catalog: string): string => newNames.get(catalog) ?? catalog;
  const add = (written: string, name: string): void => {
    const catalog = newName(written);
    touched.set(catalog, (touched.get(catalog) ?? new Set()).add(name));
  };
  for (const { name, catalogs } of change.packages.values())
    for (const catalog of catalogs) add(catalog, name);
  // A folder may be called otherwise than the package in it.
  for (const [catalog, names] of change.contents) for (const name of names) add(catalog, name);
  // What cannot be read cannot be compared.
  for (const { catalog, packages } of change.unread)
    for (const name of packages) touched.get(newName(catalog))?.delete(name);
  // A folder whose name cannot be that of a catalog is a finding of its own, and no cluster gets it.
  return new Map([...touched].filter(([catalog, names]) => names.size > 0 && isCatalogName(catalog)));
}

// Catalogs whose folders a merge renames or moves: before and after, each is one catalog for its clusters.

interface RenamedCatalog {
  readonly from: string;
  readonly to: string;
  /** Path of its folder, before. */
  readonly root: string;
}

type Units = ReadonlyMap<string, CatalogUnit>;

/**
 * Pairs catalogs that are gone with those that are new: those with equal content first, then those of the same platform
 * version. One catalog that is left without a platform version is paired with the only new one, or with the first of those
 * that it is split into. Catalogs of two platform versions are never a pair: clusters of one do not take the other's.
 */
export function renamedCatalogs(base: Units, merged: Units): RenamedCatalog[] {
  const [before, after] = [catalogsOf(base), catalogsOf(merged)];
  const gone = [...before.keys()].filter((name) => !after.has(name)).sort(compareText);
  const fresh = new Set([...after.keys()].filter((name) => !before.has(name)).sort(compareText));
  const renamed: RenamedCatalog[] = [];
  for (const isPair of [isSamePlatformAndContent, isSameContent, isSamePlatform]) {
    for (const from of gone) {
      if (renamed.some((one) => one.from === from)) continue;
      const own = before.get(from) ?? [];
      const to = [...fresh].find((name) => isPair([from, own], [name, after.get(name) ?? []]));
      if (to === undefined) continue;
      fresh.delete(to);
      renamed.push({ from, to, root: own[0]?.root ?? '' });
    }
  }
  const [unpaired, ...more] = gone.filter((from) => !renamed.some((one) => one.from === from));
  const [to, ...others] = fresh;
  // A catalog that is split by platforms: the first of the new ones stands for all.
  const mayBeSplit = others.length === 0 || minorOfCatalog(unpaired ?? '') === undefined;
  const gainsOrLosesPlatform = (from: string): boolean =>
    mayBeSplit && [...fresh].every((name) => hasOneAPlatform(from, name));
  return unpaired !== undefined && to !== undefined && more.length === 0 && gainsOrLosesPlatform(unpaired)
    ? [...renamed, { from: unpaired, to, root: before.get(unpaired)?.[0]?.root ?? '' }]
    : renamed;
}

/** Whether exactly one of two names has a version of the platform. */
function hasOneAPlatform(from: string, to: string): boolean {
  return (minorOfCatalog(from) === undefined) !== (minorOfCatalog(to) === undefined);
}

type NamedUnits = readonly [name: string, units: readonly CatalogUnit[]];

/** The units of each catalog, by its name. */
function catalogsOf(units: Units): Map<string, CatalogUnit[]> {
  return groupedBy(units.values(), ({ catalog }) => catalog);
}

function isSamePlatformAndContent(one: NamedUnits, other: NamedUnits): boolean {
  return isSamePlatform(one, other) && isSameContent(one, other);
}

/**
 * Whether both have the same git objects, and are not of two versions of the platform. Two names without any version are two
 * places, not one catalog that moved.
 */
function isSameContent([from, one]: NamedUnits, [to, other]: NamedUnits): boolean {
  const [was, is] = [minorOfCatalog(from), minorOfCatalog(to)];
  if (!(was ?? is) || (was && is && compareMinors(was, is) !== 0)) return false;
  const ids = (units: readonly CatalogUnit[]): string => JSON.stringify(units.map(({ id }) => id).sort());
  return ids(one) === ids(other);
}

/** Whether both are of one version of the platform, and have a package in common as far as their folders say. */
function isSamePlatform([from, one]: NamedUnits, [to, other]: NamedUnits): boolean {
  const [was, is] = [minorOfCatalog(from), minorOfCatalog(to)];
  if (!was || !is || compareMinors(was, is) !== 0) return false;
  const names = new Set(one.map((unit) => unit.package));
  return other.some((unit) => names.has(unit.package));
}

/** The units of the base branch, under the names that their catalogs have after the merge. */
function underNewNames(base: Units, renamed: readonly RenamedCatalog[]): Units {
  if (renamed.length === 0) return base;
  const names = new Map(renamed.map(({ from, to }) => [from, to]));
  return new Map(
    [...base].map(([path, unit]) => [path, { ...unit, catalog: names.get(unit.catalog) ?? unit.catalog }]),
  );
}

/**
 * A warning for each. Clusters of the old name lose every package, so it is of the rule about removed packages. It is never
 * an error: the packages are still there under the new name, and the clusters' owners may have moved.
 */
export function renamedFindings(renamed: readonly RenamedCatalog[], policy: Policy): Finding[] {
  if (severitiesOf(policy)(packageRemoved) === 'off') return [];
  return renamed.map(({ from, to, root }) => ({
    rule: packageRemoved.id,
    severity: 'warning',
    message: `catalog ${quoted(from)} is renamed to ${quoted(to)}: clusters that use ${quoted(from)} get no more updates`,
    location: { file: root, line: 1, column: 1 },
    catalogs: [from],
    hint: `if clusters still use ${from}, copy its folder instead of renaming it`,
  }));
}
