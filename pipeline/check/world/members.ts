/** Touched catalogs read in full. Those in which the same files change in the same way are read once. */

import { type Blobs, type Catalog, joinedBlobs, placedBlobs } from '../../../catalog/fbc/model.ts';
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import type { Predecessor } from '../../../catalog/olm/foresight/world.ts';
import { type CatalogFile, fileKey } from '../../change/catalog-files.ts';
import { type ContextReader, hasAny, joinedCatalog, markerOf, packagesOf } from './context.ts';
import type { CatalogPath } from './old-versions.ts';
import { type CatalogReading, FOLLOWING } from './scene.ts';
import type { BeforeAndAfter, CatalogState, FollowingCatalog, TouchedCatalog } from './touched-catalog.ts';

/** Reads catalogs in which the same files change in the same way once. */
export async function readAlike(
  reading: CatalogReading,
  drafts: readonly MemberDraft[],
): Promise<TouchedCatalog[]> {
  const alike = new Map<string, MemberDraft[]>();
  for (const draft of drafts) {
    const key = JSON.stringify([
      [...draft.packages].sort(),
      identityOf(draft.own.before),
      identityOf(draft.own.after),
    ]);
    appendToGroup(alike, key, draft);
  }
  const read: TouchedCatalog[] = [];
  // One after the other: the texts of one group's files are in memory at a time.
  for (const members of alike.values()) read.push(await readMembers(reading, members));
  return read;
}

/** Reads the state that equal catalogs share, once, with what is different around each of them. */
async function readMembers(
  reading: CatalogReading,
  members: readonly MemberDraft[],
): Promise<TouchedCatalog> {
  const [first] = members;
  if (!first) throw new TypeError('internal error: an empty group of catalogs');
  const { before, after } = first.own;
  return {
    names: members.map(({ name }) => name),
    packages: first.packages,
    before: before.length === 0 ? undefined : await readState(reading, before),
    after: after.length === 0 ? undefined : await readState(reading, after),
    members: members.map((member) => ({
      name: member.name,
      predecessors: member.predecessors ?? [],
      context: contextOf(reading, member),
      following: member.following,
      preceding: reading.order.before(member.name, FOLLOWING),
      ownPath: ownPaths(first, member),
    })),
    places: members.flatMap(placesOf),
  };
}

/** The blobs of files, and what could not be read of them. */
async function readState({ reader }: CatalogReading, files: readonly CatalogFile[]): Promise<CatalogState> {
  const parts = await Promise.all(
    files.map(async (file): Promise<Pick<CatalogState, 'blobs' | 'unread'>> => {
      const { blobs, findings } = await reader.read(file);
      return { blobs: file.composed ? blobs : placedBlobs(blobs, file.path), unread: findings };
    }),
  );
  return {
    blobs: joinedBlobs(parts.map(({ blobs }) => blobs)),
    unread: parts.flatMap(({ unread }) => unread),
    composed: files.every(({ composed }) => composed),
  };
}

function placesOf({ name, own }: MemberDraft): CatalogPath[] {
  const roots = new Map([...own.before, ...own.after].map(({ unit }) => [unit.path, unit.root]));
  return [...roots].map(([path, root]) => ({ catalog: name, path, root }));
}

/**
 * The untouched packages of a catalog, in outline: without manifests, icons, descriptions and related images. Files beyond
 * `limits.contextBytes` are missing; ContextReader has noted their catalog.
 *
 * Usually, nothing differs between before and after. Then both are the same object: what is calculated of its packages once
 * counts for both.
 */
function contextOf({ context }: CatalogReading, { around }: MemberDraft): BeforeAndAfter<Catalog> {
  const join = (files: readonly CatalogFile[]): Catalog =>
    joinedCatalog(files.flatMap((file) => context.outline(file)?.catalog ?? []));
  const before = join(around.before);
  const isSame = around.before.map(fileKey).join('\n') === around.after.map(fileKey).join('\n');
  return { before, after: isSame ? before : join(around.after) };
}

/**
 * Translates the places of findings from the first of several catalogs that are alike to another one of them: paths of files
 * that were read whole, and the markers that files in outline have instead of a path.
 */
function ownPaths(first: MemberDraft, own: MemberDraft): (path: string) => string {
  const all = ({ own: { before, after } }: MemberDraft): CatalogFile[] => [...before, ...after];
  const byIdentity = new Map(all(own).map((file) => [identity(file), file.path]));
  const paths = new Map(all(first).map((file) => [file.path, byIdentity.get(identity(file)) ?? file.path]));
  const marks = new Map(
    [...own.around.before, ...own.around.after].map((file) => [markerOf(file), file.path]),
  );
  return (path) => paths.get(path) ?? marks.get(path) ?? path;
}

/** What files hold, whatever catalog they are in: paths within the catalog, and git ids. */
function identityOf(files: readonly CatalogFile[]): string[] {
  return files.map(identity).sort();
}

/** A file by its path within its catalog and its content: equal for the same file of another catalog. */
function identity({ path, mode, id, unit }: CatalogFile): string {
  return `${path.slice(unit.root.length)} ${mode} ${id}`;
}

// Which files of a touched catalog hold the touched packages, and which ones surround them.

/** The files of a touched catalog, before their packages are known. */
interface ListedCatalog {
  readonly name: string;
  readonly packages: ReadonlySet<string>;
  /** Files that change, and those that lie where the packages do. */
  readonly own: BeforeAndAfter<readonly CatalogFile[]>;
  /** All others. */
  readonly far: BeforeAndAfter<readonly CatalogFile[]>;
  readonly next: readonly NextFiles[];
  /** Files of the next catalogs in which the packages are looked for first. */
  readonly near: readonly CatalogFile[];
}

interface NextFiles extends BeforeAndAfter<readonly CatalogFile[]> {
  readonly name: string;
}

/** A touched catalog, whose files are known to hold the packages or not. */
export interface MemberDraft {
  readonly name: string;
  readonly packages: ReadonlySet<string>;
  /** Files that hold the packages, or may hold them; they are read in full. */
  readonly own: BeforeAndAfter<readonly CatalogFile[]>;
  /** All other files of a touched catalog; they are read in outline, as far as the limits allow. Empty for other catalogs. */
  readonly around: BeforeAndAfter<readonly CatalogFile[]>;
  readonly following: readonly FollowingCatalog[];
  readonly predecessors?: readonly Predecessor[];
}

/**
 * Which files of a catalog are to be read for its packages: those that change, and those that lie where the packages
 * do.
 */
export async function listCatalogFiles(
  reading: CatalogReading,
  name: string,
  packages: ReadonlySet<string>,
  following: readonly string[],
): Promise<ListedCatalog> {
  const before = await reading.before(name);
  const after = await reading.after(name);
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
      before: await reading.before(other),
      after: await reading.after(other),
    })),
  );
  const split = (is: (file: CatalogFile) => boolean): BeforeAndAfter<readonly CatalogFile[]> => ({
    before: before.filter(is),
    after: after.filter(is),
  });
  // What lies in no folder of a package may have a part of any: one known part says nothing of the others.
  const near = next
    .flatMap((files) => [...files.before, ...files.after])
    .filter((file) => file.unit.package === undefined || isNear(file));
  return {
    name,
    packages,
    own: split(isOwn),
    far: split((file) => !isOwn(file)),
    next,
    near,
  };
}

/**
 * Decides by their content which of the listed files hold the packages (`own`). The others (`around`) are read in outline:
 * those of the catalog itself, and those of the catalogs that follow it.
 */
export async function selectFiles(reading: CatalogReading, listed: ListedCatalog): Promise<MemberDraft> {
  const { context, reader } = reading;
  const { name, packages, own, far } = listed;
  const hasTouched = (names: ReadonlySet<string>): boolean => hasAny(names, packages);
  const side = async (
    when: keyof BeforeAndAfter<unknown>,
  ): Promise<Record<'own' | 'around', readonly CatalogFile[]>> => {
    const read = await Promise.all(own[when].map((file) => reader.read(file)));
    // What cannot be read may be theirs.
    const holds = read.map(
      ({ blobs, findings }) => findings.length > 0 || hasNameless(blobs) || hasTouched(packagesOf(blobs)),
    );
    const elsewhere = far[when].filter((file) => hasTouched(context.outline(file)?.packages ?? NO_PACKAGES));
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
    new Set(files.flatMap((file) => [...(context.outline(file)?.packages ?? NO_PACKAGES)]));
  const known = found();
  if ([...packages].some((name) => !known.has(name))) await context.read(files);
  return outlinesOf(context, files, packages);
}

/** What files have of packages, as far as they were read. */
export function outlinesOf(
  context: ContextReader,
  files: readonly CatalogFile[],
  packages: ReadonlySet<string>,
): Catalog {
  return joinedCatalog(
    files.flatMap((file) => {
      const outline = context.outline(file);
      return outline && hasAny(outline.packages, packages) ? [outline.catalog] : [];
    }),
  );
}

/** The packages of a file without an outline: nothing is known of it. */
export const NO_PACKAGES: ReadonlySet<string> = new Set();
