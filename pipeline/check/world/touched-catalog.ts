/** Catalogs with the packages that a pull request touches, before and after the merge. */
import { type Blobs, type Catalog, catalogOf } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { onceFor } from '../../../catalog/go/once.ts';
import type { Predecessor } from '../../../catalog/olm/foresight/world.ts';
import type { CatalogPath } from './old-versions.ts';

/** One state of the touched packages of a catalog. */
export interface CatalogState {
  readonly blobs: Blobs;
  /** What could not be read, or was read otherwise than written. */
  readonly unread: readonly Finding[];
  /** Whether a pipeline makes all of them from bundle directories. */
  readonly composed?: boolean;
}

export interface BeforeAndAfter<T> {
  readonly before: T;
  readonly after: T;
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
  readonly context: BeforeAndAfter<Catalog>;
  /** The touched packages in the catalogs of the platform's next versions, the nearest first. */
  readonly following: readonly FollowingCatalog[];
  /** Names of the catalogs of the platform's previous versions, the nearest first. */
  readonly preceding: readonly string[];
  /** Where the catalog is new: all packages of the catalogs that its clusters come from, in outline. */
  readonly predecessors: readonly Predecessor[];
  /** The catalog's own path for a path in the first of the catalogs. */
  readonly ownPath: (path: string) => string;
}

export interface FollowingCatalog extends BeforeAndAfter<Catalog> {
  readonly name: string;
}

/** The blobs of a state by package. */
export const catalogIn: (state: CatalogState) => Catalog = onceFor(({ blobs }) => catalogOf(blobs));

/** The items of both sides; what both have is there twice. */
export function sidesOf<T>({ before, after }: BeforeAndAfter<readonly T[]>): T[] {
  return [...before, ...after];
}
