/** Touched catalogs read in full. Those in which the same files change in the same way are read once. */

import { joinedBlobs, placedBlobs } from '../../../catalog/fbc/blobs.ts';
import type { Catalog } from '../../../catalog/fbc/model.ts';
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import { type CatalogFile, fileKey } from '../../change/catalog-files.ts';
import { joinedCatalog, markerOf } from './context.ts';
import type { CatalogPath } from './old-versions.ts';
import type { MemberDraft } from './package-files.ts';
import { type CatalogReading, FOLLOWING } from './scene.ts';
import type { BeforeAndAfter, CatalogState, TouchedCatalog } from './touched-catalog.ts';

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
