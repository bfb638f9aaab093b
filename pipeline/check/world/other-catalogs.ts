/** The touched packages in the catalogs that a pull request does not touch. */

import { type Catalog, NO_BLOBS } from '../../../catalog/fbc/model.ts';
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import type { CatalogFile, FilesOf } from '../../change/catalog-files.ts';
import { hasAny, joinedCatalog, packagesOf } from './context.ts';
import { type MemberDraft, NO_PACKAGES, outlinesOf, readAlike } from './members.ts';
import type { CatalogPath } from './old-versions.ts';
import { type CatalogReading, FOLLOWING } from './scene.ts';
import {
  type BeforeAndAfter,
  catalogIn,
  type FollowingCatalog,
  sidesOf,
  type TouchedCatalog,
} from './touched-catalog.ts';

/** The touched packages in the catalogs that a pull request does not touch. */
export interface OtherCatalogs {
  /** Those that clusters of touched catalogs come from, or go to. */
  readonly neighbors: readonly TouchedCatalog[];
  /** The touched packages in all catalogs, touched or not, in the order of platform upgrades. */
  readonly everywhere: ReadonlyMap<string, BeforeAndAfter<Catalog>>;
  /** Where the packages stand in all of them. */
  readonly places: readonly CatalogPath[];
}

/** What untouched catalogs are looked for in. */
interface SearchScope extends CatalogReading {
  /** Folders in which the touched packages lie. */
  readonly folders: ReadonlySet<string>;
  /** All folders of packages in the touched catalogs: what those of the same names hold elsewhere is known. */
  readonly familiar: ReadonlySet<string>;
  /** Names of all catalogs, in the order of platform upgrades. */
  readonly names: readonly string[];
}

export const NO_OTHERS: OtherCatalogs = { neighbors: [], everywhere: new Map(), places: [] };

/** Reads the touched packages in the untouched catalogs: whole in neighbors, which clusters move to or from, else in outline. */
export async function readOthers(
  reading: SearchScope,
  packages: ReadonlyMap<string, ReadonlySet<string>>,
  touched: readonly TouchedCatalog[],
): Promise<OtherCatalogs> {
  const neighbors = await readAlike(reading, await neighborDrafts(reading, packages));
  const read = [...touched, ...neighbors];
  return { neighbors, ...(await readEverywhere(reading, packages, read)) };
}

/**
 * The touched packages in the catalogs that clusters come from and go to with the platform, unless they are touched there as
 * well. The other packages of these catalogs do not matter: they stay as they are.
 */
async function neighborDrafts(
  reading: SearchScope,
  touched: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<MemberDraft[]> {
  const { order, reader } = reading;
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
      const likely = await filesOfPackages(reading, files, packages);
      const read = await Promise.all(likely.map((file) => reader.read(file)));
      return likely.filter((_, i) => hasAny(packagesOf(read[i]?.blobs ?? NO_BLOBS), packages));
    };
    const own = {
      before: await holding(await reading.before(name)),
      after: await holding(await reading.after(name)),
    };
    if (sidesOf(own).length === 0) continue;
    const following = await followingCatalogs(reading, order.after(name, FOLLOWING), packages);
    drafts.push({ name, packages, own, around: { before: [], after: [] }, following });
  }
  return drafts;
}

/**
 * The files that may hold packages: those in folders of their names and, where these lack one of them, those in folders
 * that the touched catalogs do not have, as far as they mention it.
 */
async function filesOfPackages(
  { context, folders, familiar }: SearchScope,
  files: readonly CatalogFile[],
  packages: ReadonlySet<string>,
): Promise<readonly CatalogFile[]> {
  const likely = files.filter((file) => mayHold(file, packages, folders));
  await context.readElsewhere(likely);
  const found = new Set(likely.flatMap((file) => [...(context.outline(file)?.packages ?? NO_PACKAGES)]));
  const missing = new Set([...packages].filter((name) => !found.has(name)));
  if (missing.size === 0) return likely;
  const others = files.filter((file) => !likely.includes(file) && !familiar.has(file.unit.package ?? ''));
  const mentioning = await context.mentioning(others, missing);
  await context.readElsewhere(mentioning);
  return [...likely, ...mentioning];
}

/** Whether a file may hold packages, as far as its folder says: those of one file hold all packages. */
function mayHold(
  { unit }: CatalogFile,
  packages: ReadonlySet<string>,
  folders: ReadonlySet<string>,
): boolean {
  return unit.package === undefined || packages.has(unit.package) || folders.has(unit.package);
}

/** What the next catalogs have of packages, in the files where they are likely to be. */
async function followingCatalogs(
  reading: SearchScope,
  names: readonly string[],
  packages: ReadonlySet<string>,
): Promise<FollowingCatalog[]> {
  const following: FollowingCatalog[] = [];
  for (const name of names) {
    const side = async (filesOf: FilesOf): Promise<Catalog> => {
      return outlinesOf(
        reading.context,
        await filesOfPackages(reading, await filesOf(name), packages),
        packages,
      );
    };
    following.push({ name, before: await side(reading.before), after: await side(reading.after) });
  }
  return following;
}

/** What all catalogs have of the touched packages: what was read for some of them, and outlines of the others. */
async function readEverywhere(
  reading: SearchScope,
  touched: ReadonlyMap<string, ReadonlySet<string>>,
  read: readonly TouchedCatalog[],
): Promise<Pick<OtherCatalogs, 'everywhere' | 'places'>> {
  const packages = new Set([...touched.values()].flatMap((names) => [...names]));
  const readByName = new Map<string, TouchedCatalog[]>();
  for (const one of read) for (const name of one.names) appendToGroup(readByName, name, one);
  const everywhere = new Map<string, BeforeAndAfter<Catalog>>();
  const places = new Map(read.flatMap((one) => one.places).map((place) => [place.path, place]));
  for (const name of reading.names) {
    const parts = readByName.get(name) ?? [];
    const missing = new Set([...packages].filter((one) => !parts.some((part) => part.packages.has(one))));
    const side = async (filesOf: FilesOf, when: keyof BeforeAndAfter<unknown>): Promise<Catalog> => {
      const files = missing.size > 0 ? await filesOfPackages(reading, await filesOf(name), missing) : [];
      for (const { unit } of files)
        places.set(unit.path, { catalog: name, path: unit.path, root: unit.root });
      return joinedCatalog([
        ...parts.flatMap((part) => {
          const state = part[when];
          return state ? [catalogIn(state)] : [];
        }),
        outlinesOf(reading.context, files, missing),
      ]);
    };
    everywhere.set(name, {
      before: await side(reading.before, 'before'),
      after: await side(reading.after, 'after'),
    });
  }
  return { everywhere, places: [...places.values()] };
}
