/** What changes in catalogs: unit by unit, package by package. */
import { createHash } from 'node:crypto';
import { IGNORE_FILE } from '../../catalog/fbc/ignore.ts';
import { countEntries, hidesBlobs } from '../../catalog/fbc/load.ts';
import { type Blob, locate } from '../../catalog/fbc/model.ts';
import { type Finding, findingIdentity } from '../../catalog/finding.ts';
import { groupedBy } from '../../catalog/go/grouped.ts';
import {
  changedBundles,
  contentChange,
  newBlobs,
  promotionClasses,
} from '../../catalog/olm/content-change.ts';
import { newPins, type TagDigests } from '../../catalog/references/same-image.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { PinnedTag, UnreadPart } from './change.ts';
import {
  emptyContent,
  type FileReader,
  type LoadedFile,
  loadedFiles,
  type PackageContent,
  readContent,
  type UnitContent,
} from './content.ts';
import type { ForeignPlace } from './foreign-blobs.ts';
import { type Drafts, noteDetail, type PackageDraft } from './package-draft.ts';
import type { CatalogUnit } from './unit.ts';

/** One tree with its catalogs. */
export interface CatalogTree {
  readonly tree: string;
  readonly units: ReadonlyMap<string, CatalogUnit>;
}

interface CatalogsInput {
  readonly objects: ObjectReader;
  readonly reader: FileReader;
  readonly base: CatalogTree;
  readonly merged: CatalogTree;
  /** Every changed path. */
  readonly paths: readonly string[];
  /** Whether a package has a place or owners of its own on the base branch. */
  readonly claimed: (name: string) => boolean;
  /** What the base's tags are known to stand for. */
  readonly digests: TagDigests;
}

interface CatalogsChange {
  readonly pins: readonly PinnedTag[];
  /** Blobs of a package in a folder of another package. */
  readonly foreign: readonly ForeignPlace[];
  /** Names of the packages whose blobs change, by catalog. */
  readonly contents: ReadonlyMap<string, ReadonlySet<string>>;
  /** Changed files that cannot be read, severity error. */
  readonly unread: readonly Finding[];
  /** The parts of catalogs that these files are in. */
  readonly unreadParts: readonly UnreadPart[];
  /** Units that change in what belongs to no package. */
  readonly outsidePackages: readonly string[];
  /** Folders of catalogs that stay, and of which clusters get something on one side only. */
  readonly emptied: ReadonlySet<string>;
  readonly filled: ReadonlySet<string>;
  /** How many entries the merge has in the channels of packages that change, each catalog counted. */
  readonly entries: number;
}

/**
 * Compares all units (a package's folder in a catalog, or a file that holds a whole catalog) that the changed paths can have
 * changed. What changes in each package is written into the drafts; the rest is returned.
 */
export async function compareCatalogs(input: CatalogsInput, drafts: Drafts): Promise<CatalogsChange> {
  const foreign: ForeignPlace[] = [];
  const unread = new Map<string, Finding>();
  const outsidePackages: string[] = [];
  const pins: PinnedTag[] = [];
  const contents = new Map<string, Set<string>>();
  const unreadParts: UnreadPart[] = [];
  const offering = new Map<string, Offering>();
  let entries = 0;
  const pairs = changedUnits(input);
  for (const pair of pairs) {
    const found = await compareUnit(input, pair, drafts);
    const { root } = found.unit;
    offering.set(root, both(offering.get(root), found.offering));
    for (const place of found.foreign) foreign.push(place);
    for (const pin of found.pins) pins.push(pin);
    const names = contents.get(found.unit.catalog) ?? new Set();
    for (const name of found.names) names.add(name);
    contents.set(found.unit.catalog, names);
    if (found.isOutsidePackages) outsidePackages.push(found.unit.path);
    for (const finding of found.unread) addOnce(unread, finding, found.unit);
    for (const part of found.unreadParts) unreadParts.push(part);
    entries += found.entries;
  }
  const { emptied, filled } = await emptyOnOneSide(input, pairs, offering);
  return {
    pins,
    foreign,
    contents,
    unread: [...unread.values()],
    unreadParts,
    outsidePackages,
    emptied,
    filled,
    entries,
  };
}

/** Whether clusters get something of a unit or a catalog, before and after. */
interface Offering {
  readonly before: boolean;
  readonly after: boolean;
}

function both(one: Offering | undefined, other: Offering): Offering {
  return { before: one?.before === true || other.before, after: one?.after === true || other.after };
}

/** What a catalog offers: a blob of another schema alone is nothing to a cluster. A file that cannot be read may offer anything. */
function offersSomething({ packages, unread }: UnitContent): boolean {
  const isOffer = (one: PackageContent): boolean =>
    one.packages.length + one.channels.length + one.bundles.length > 0;
  return unread.length > 0 || [...packages.values()].some(isOffer);
}

/**
 * The folders of catalogs of which one side alone offers something.
 *
 * @param offering what the changed units of each folder offer; of the others, files count
 */
async function emptyOnOneSide(
  input: CatalogsInput,
  pairs: readonly UnitPair[],
  offering: ReadonlyMap<string, Offering>,
): Promise<{ readonly emptied: ReadonlySet<string>; readonly filled: ReadonlySet<string> }> {
  const [emptied, filled] = [new Set<string>(), new Set<string>()];
  const changed = new Set(pairs.map(({ before, after }) => (before ?? after)?.path));
  const unchanged = [...input.merged.units.values()].filter(({ path }) => !changed.has(path));
  for (const [root, { before, after }] of offering) {
    if (before === after) continue;
    const others = unchanged.filter((unit) => unit.root === root);
    if (!(await anyHasFiles(input, others))) (before ? emptied : filled).add(root);
  }
  return { emptied, filled };
}

/** Whether opm loads any file of some units. Their blobs are not read: that would cost as much as all of the catalog. */
async function anyHasFiles(
  { objects, merged }: CatalogsInput,
  units: readonly CatalogUnit[],
): Promise<boolean> {
  for (const unit of units) if ((await loadedFiles(objects, merged.tree, unit)).length > 0) return true;
  return false;
}

interface UnitPair {
  readonly before: CatalogUnit | undefined;
  readonly after: CatalogUnit | undefined;
}

/** The units whose files change, and those for whose files an ignore file of their catalog changes. */
function changedUnits({ base, merged, paths }: CatalogsInput): UnitPair[] {
  const ignoreFolders = paths.filter((path) => path.split('/').at(-1) === IGNORE_FILE).map(folderOf);
  const mayBeIgnored = (unit: CatalogUnit | undefined): boolean =>
    unit !== undefined &&
    ignoreFolders.some((folder) => isWithin(unit.path, folder) && isWithin(folder, unit.root));
  const all = new Set([...base.units.keys(), ...merged.units.keys()]);
  return [...all].sort().flatMap((path) => {
    const [before, after] = [base.units.get(path), merged.units.get(path)];
    const isChanged = before?.id !== after?.id || mayBeIgnored(before) || mayBeIgnored(after);
    return isChanged ? [{ before, after }] : [];
  });
}

function folderOf(path: string): string {
  return path.split('/').slice(0, -1).join('/');
}

/** Whether a path is a folder, or below it; every path is below the empty one, which is the top. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

/** What changes in one unit; fields are as in {@link CatalogsChange}. */
interface UnitFound {
  readonly unit: CatalogUnit;
  readonly pins: readonly PinnedTag[];
  /** Of the packages whose blobs change. */
  readonly names: readonly string[];
  readonly foreign: readonly ForeignPlace[];
  readonly unread: readonly Finding[];
  readonly unreadParts: readonly UnreadPart[];
  readonly isOutsidePackages: boolean;
  readonly offering: Offering;
  readonly entries: number;
}

/**
 * Compares one unit (a file or folder of a catalog) before and after, and notes in `drafts` what changes in each package.
 */
async function compareUnit(input: CatalogsInput, pair: UnitPair, drafts: Drafts): Promise<UnitFound> {
  const unit = pair.after ?? pair.before;
  if (!unit) throw new TypeError('internal error: a pair of units is empty');
  const before = await sideOf(input, input.base.tree, pair.before);
  const after = await sideOf(input, input.merged.tree, pair.after);
  const pieces = piecesOf(unit, before, after);
  const hasNewWarnings = newWarningTest(before, after);
  const changed = pieces.filter((one) => one.name !== '' && (isChanged(one) || hasNewWarnings(one)));
  for (const one of changed) {
    // Its owners, and its place in the report, are those of the name that its folder always had.
    const folderName = whoseChange(input, one) === 'place' ? unit.package : undefined;
    const draft = drafts.draftOf(folderName ?? one.name);
    // Several packages in a folder may share the draft of the folder's name, so the key has both names.
    draft.sides.set(`${unit.path} ${one.name}`, [sideText(one, before), sideText(one, after)]);
    await writeChange(input, one, draft);
  }
  const unread = [...newlyUnread(before, after), ...after.excess];
  const ofOthers = changed.filter((one) => whoseChange(input, one) === 'foreign');
  return {
    unit,
    names: changed.map(({ name }) => name),
    pins: changed.flatMap(pinsIn),
    foreign: ofOthers.flatMap((one) => one.added.map((blob) => foreignPlace(one, blob))),
    unread,
    unreadParts: unreadPartsOf(unit, pieces, unread.filter(newlyHides(before, after))),
    isOutsidePackages: pieces.some(changesOutsidePackages),
    offering: { before: offersSomething(before), after: offersSomething(after) },
    entries: countEntries(changed.flatMap((one) => one.after.channels)),
  };
}

/** What a unit holds of each package, before and after; nothing on a side where it lacks the package. */
function piecesOf(unit: CatalogUnit, { packages: old }: Side, { packages: now }: Side): PackagePiece[] {
  const names = new Set([...old.keys(), ...now.keys()]);
  if (unit.package !== undefined) names.add(unit.package);
  return [...names].map((name) => {
    const before = old.get(name) ?? emptyContent();
    const after = now.get(name) ?? emptyContent();
    return { unit, name, before, after, added: newBlobs(before, after) };
  });
}

/** Whether blobs of a package change. A unit of one package is here because its files changed. */
function isChanged({ unit, name, before, after, added }: PackagePiece): boolean {
  // A folder of bundles changes for all of its catalogs, and few of them change with it.
  const mayBeEqual = name !== unit.package || unit.composed !== undefined;
  return !mayBeEqual || added.length > 0 || isLess(before, after);
}

/**
 * Tells whether composing a package warns of something new: a bundle that its graph leaves out changes no blob, and its
 * author must learn of it.
 */
function newWarningTest(before: Side, after: Side): (piece: PackagePiece) => boolean {
  const known = new Set(before.warnings.map(findingIdentity));
  const isMore = after.warnings.some((one) => !known.has(findingIdentity(one)));
  return ({ unit, name }) => isMore && unit.composed !== undefined && name === unit.package;
}

/**
 * Whether blobs of no package change. They are nobody's also in a package's own folder: clients read them as part of the
 * whole catalog, and may know them by a name that is another package's.
 */
function changesOutsidePackages({ name, before, after, added }: PackagePiece): boolean {
  return name === '' && (added.length > 0 || isLess(before, after));
}

/** What cannot be read of the files that change: what the base branch cannot read either is not this change's. */
function newlyUnread(before: Side, after: Side): Finding[] {
  const old = new Set(before.files.map(({ path, id }) => `${path} ${id}`));
  const unchanged = new Set(
    after.files.filter(({ path, id }) => old.has(`${path} ${id}`)).map(({ path }) => path),
  );
  return after.unread.filter(({ location }) => !unchanged.has(location.file));
}

/** Errors of one blob: all others of its file are read. */
const OF_ONE_BLOB: ReadonlySet<string> = new Set([
  'fbc/duplicate-key',
  'fbc/field-type',
  'fbc/schema-missing',
]);

/**
 * Says whether a finding hides blobs that the side before had. An error of one blob that is on both sides
 * hides it on both, so the rest can be compared. One more error of the same kind hides one more blob.
 */
function newlyHides(before: Side, after: Side): (finding: Finding) => boolean {
  const [old, now] = [groupedBy(before.unread, findingIdentity), groupedBy(after.unread, findingIdentity)];
  const count = (all: ReadonlyMap<string, readonly Finding[]>, one: Finding): number =>
    all.get(findingIdentity(one))?.length ?? 0;
  const isKnown = (one: Finding): boolean => OF_ONE_BLOB.has(one.rule) && count(now, one) <= count(old, one);
  return (finding) => hidesBlobs(finding) && !isKnown(finding);
}

/** The parts of a unit with files that cannot be read: folders where packages share it, else all of it. */
function unreadPartsOf(
  unit: CatalogUnit,
  pieces: readonly PackagePiece[],
  unread: readonly Finding[],
): UnreadPart[] {
  const parts = new Map<string, UnreadPart>();
  for (const { location } of unread) {
    const { file } = location;
    const path = unit.package === undefined && file !== unit.path ? folderOf(file) : unit.path;
    const isHere = ({ name, before, after }: PackagePiece): boolean =>
      name !== '' && [...before.files.values(), ...after.files.values()].some((one) => isWithin(one, path));
    const packages = pieces.filter((one) => one.name === unit.package || isHere(one)).map(({ name }) => name);
    if (!parts.has(path)) parts.set(path, { catalog: unit.catalog, path, packages, file });
  }
  return [...parts.values()];
}

/** Tags of changed bundles that a change replaces by digests. */
function pinsIn({ unit, before, after }: PackagePiece): PinnedTag[] {
  return changedBundles(before, after).flatMap(({ was, bundle }) =>
    newPins(was, bundle).map((pin) => ({ ...pin, catalog: unit.catalog })),
  );
}

interface Side extends UnitContent {
  readonly files: readonly LoadedFile[];
}

/**
 * What a side of a unit holds of a package: the files that are loaded, where they are the package's own; the blobs,
 * where other packages are in the same file or the package is composed.
 */
function sideText({ unit, name }: PackagePiece, { files, packages }: Side): string {
  if (unit.package !== undefined && !unit.composed) {
    return digestOf(files.map(({ path, mode, id }) => `${path} ${mode} ${id}`));
  }
  const { packages: own, channels, bundles, deprecations, others } = packages.get(name) ?? emptyContent();
  const blobs: readonly Blob[] = [...own, ...channels, ...bundles, ...deprecations, ...others];
  return digestOf(blobs.map(blobDigest));
}

const digests = new WeakMap<object, string>();

/** Digest of all fields of a blob, kept by its value: most blobs of a file are in many of its versions. */
function blobDigest(blob: Blob): string {
  const digest =
    digests.get(blob.value) ?? createHash('sha256').update(JSON.stringify(blob.value)).digest('hex');
  digests.set(blob.value, digest);
  return digest;
}

/** A digest of lines; empty for none, which stands for a side that has nothing. */
function digestOf(lines: readonly string[]): string {
  if (lines.length === 0) return '';
  return createHash('sha256').update(JSON.stringify(lines)).digest('hex');
}

/** The files and blobs of a unit in a tree; empty where the tree lacks the unit. */
async function sideOf(input: CatalogsInput, tree: string, unit: CatalogUnit | undefined): Promise<Side> {
  if (!unit) return { files: [], packages: new Map(), unread: [], warnings: [], excess: [] };
  const files = await loadedFiles(input.objects, tree, unit);
  return { files, ...(await readContent(input.reader, files)) };
}

/** What a unit holds of one package, before and after. */
interface PackagePiece {
  readonly unit: CatalogUnit;
  /** The package that the blobs name. */
  readonly name: string;
  readonly before: PackageContent;
  readonly after: PackageContent;
  /** Blobs of `after` that `before` does not have. */
  readonly added: readonly Blob[];
}

/** Whether blobs are gone. */
function isLess(before: PackageContent, after: PackageContent): boolean {
  return newBlobs(after, before).length > 0;
}

/**
 * Whose change it is: the package's own; that of the folder's name (`place`), if the folder was always called otherwise
 * than the package in it; or that of another package, which has a place of its own (`foreign`).
 */
function whoseChange(
  { claimed }: CatalogsInput,
  { unit, name, before }: PackagePiece,
): 'own' | 'place' | 'foreign' {
  if (unit.package === undefined || unit.package === name) return 'own';
  if (claimed(name)) return 'foreign';
  return before.packages.length > 0 ? 'place' : 'own';
}

/** A blob of the package `name` in a folder that belongs to another package. */
function foreignPlace({ unit, name, after }: PackagePiece, blob: Blob): ForeignPlace {
  const location = { ...locate(blob), file: after.files.get(blob) ?? unit.path };
  return { package: name, place: unit.package ?? '', location };
}

/** Notes in the draft how a package changes in one catalog. */
async function writeChange(input: CatalogsInput, piece: PackagePiece, draft: PackageDraft): Promise<void> {
  const { unit, before, after } = piece;
  draft.kinds.add('catalog');
  draft.catalogs.add(unit.catalog);
  // `compareFiles` notes the changed paths of a package's own folder.
  if (unit.package !== draft.name) draft.paths.add(unit.path);
  if (before.files.size === 0 && after.files.size > 0) {
    // What another catalog has already is promoted: it needs other approvals than new content.
    for (const one of promotionClasses(after, await contentElsewhere(input, piece))) draft.classes.add(one);
    noteDetail(draft, 'appears', unit.catalog);
    return;
  }
  if (after.files.size === 0 && before.files.size > 0) {
    draft.classes.add('prune');
    noteDetail(draft, 'is removed', unit.catalog);
    return;
  }
  const { classes, added, lost, mutated, unconfirmed } = contentChange(before, after, input.digests);
  for (const one of classes) draft.classes.add(one);
  for (const name of added) noteDetail(draft, `adds ${name}`, unit.catalog);
  for (const what of lost) noteDetail(draft, `loses ${what}`, unit.catalog);
  for (const name of mutated) noteDetail(draft, `changes the published ${name}`, unit.catalog);
  for (const name of unconfirmed)
    noteDetail(draft, `pins images of ${name} without confirmation`, unit.catalog);
}

/** The content of a package in other catalogs of the base branch, before the change and after it, which may change them alike. */
async function contentElsewhere(
  input: CatalogsInput,
  { unit, name }: PackagePiece,
): Promise<PackageContent[]> {
  const found: PackageContent[] = [];
  for (const [path, other] of input.base.units) {
    if (other.package !== unit.package || path === unit.path) continue;
    for (const side of [
      await sideOf(input, input.base.tree, other),
      await sideOf(input, input.merged.tree, input.merged.units.get(path)),
    ]) {
      const content = side.packages.get(name);
      if (content) found.push(content);
    }
  }
  return found;
}

/** Every package in the units of a tree that several packages share. */
export async function sharedPackages(
  objects: ObjectReader,
  reader: FileReader,
  { tree, units }: CatalogTree,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const unit of units.values()) {
    if (unit.package !== undefined) continue;
    const { packages } = await readContent(reader, await loadedFiles(objects, tree, unit));
    for (const name of packages.keys()) names.add(name);
  }
  return names;
}

/** Keeps one finding for the same file of a package in several catalogs: most are copies of each other. */
function addOnce(findings: Map<string, Finding>, finding: Finding, unit: CatalogUnit): void {
  const { catalog, root, package: folderName } = unit;
  const { rule, message, location } = finding;
  const file = location.file.slice(root.length);
  const key = JSON.stringify([rule, message, folderName, file, location.line, location.column]);
  const known = findings.get(key);
  const catalogs = new Set([...(known?.catalogs ?? []), catalog]);
  findings.set(key, { ...(known ?? finding), catalogs: [...catalogs].sort() });
}
