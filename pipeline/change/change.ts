/** What a pull request changes, as data: by package and by the rest of the repository. */
import { createHash } from 'node:crypto';
import type { Finding, Location } from '../../catalog/finding.ts';
import { groupedBy } from '../../catalog/go/grouped.ts';
import type { NewPin } from '../../catalog/references/same-image.ts';
import type { PathChange } from '../git/tree.ts';
import type { PathKind } from '../policy/layout.ts';
import type { PackageOwners } from '../policy/owners/owners.ts';
import type { AllowableClass } from '../policy/policy.ts';
import type { PlacedPath } from './path.ts';

export interface Change {
  readonly paths: readonly (PlacedPath & PathChange)[];
  /** By name, in the order of names. */
  readonly packages: ReadonlyMap<string, PackageChange>;
  /** Names of the packages whose blobs change, by catalog: what they are, wherever their files lie. */
  readonly contents: ReadonlyMap<string, ReadonlySet<string>>;
  /** Changes of the repository as a whole, in the order of the classes. */
  readonly areas: readonly AreaChange[];
  /** Blobs of a package in a place of another one's. */
  readonly foreign: readonly ForeignBlob[];
  /** Tags of published bundles that are digests now. */
  readonly pins: readonly PinnedTag[];
  /** What closes the gate for everybody. What clusters get of all the rest is known. */
  readonly unsafe: readonly Finding[];
  /** Whether the content was read: not where the pull request is beyond the limits. */
  readonly isRead: boolean;
  /** Parts of catalogs that the pull request leaves unreadable. */
  readonly unread: readonly UnreadPart[];
  /** Defects of files that name owners: they close the gate, too, but what the change does to clusters is known. */
  readonly ownerDefects: readonly Finding[];
}

/** A part of a catalog with a file that cannot be read: nobody knows what clusters get of its packages. */
export interface UnreadPart {
  readonly catalog: string;
  /** Path of the folder that the file is in; of the file itself where it is the whole catalog. */
  readonly path: string;
  /** The packages that are in it, before or after the change, as far as they were read. */
  readonly packages: readonly string[];
  /** The first file that cannot be read. */
  readonly file: string;
}

/**
 * What a change replaces, by place (a file, a bundle's folder, a package's part of a catalog): the content before
 * and after, as texts that differ when the contents do.
 */
export type Sides = ReadonlyMap<string, readonly [before: string, after: string]>;

export interface PackageChange {
  readonly name: string;
  readonly classes: ReadonlySet<AllowableClass>;
  readonly kinds: ReadonlySet<PathKind>;
  /** Its paths among the changed ones. */
  readonly paths: readonly string[];
  /** What brings it from the place of another package: nobody owns it there, but an approval is of it, too. */
  readonly elsewhere: readonly string[];
  /** What is changed, in words, such as `prunes entry a of channel b`. */
  readonly details: readonly string[];
  /** Names of the catalogs in which it changes. */
  readonly catalogs: readonly string[];
  /** As the base branch has them. */
  readonly owners: PackageOwners;
  /** As they would be. */
  readonly ownersAfter: PackageOwners;
  /** What approvals are of, with the classes. */
  readonly sides: Sides;
}

/** Changes outside of any package. */
export interface AreaChange {
  readonly area: 'gate' | 'advisory' | 'repository' | 'root' | 'unknown' | 'new-catalog' | 'delete-catalog';
  readonly paths: readonly string[];
  /** Name of the catalog and path of its folder, for `new-catalog` and `delete-catalog`. */
  readonly catalog: string | undefined;
  readonly root: string | undefined;
  /** What approvals are of, with the area. */
  readonly sides: Sides;
}

/** Names what is approved: `package etcd`, `catalog v4.20`, `gate`, `advisory`, `repository`, `root` or `unknown`. */
export function subjectOf(
  change: Pick<PackageChange, 'name'> | Pick<AreaChange, 'area' | 'catalog'>,
): string {
  if ('name' in change) return `package ${change.name}`;
  return change.catalog === undefined ? change.area : `catalog ${change.catalog}`;
}

export interface ForeignBlob {
  /** The package that the blob belongs to. */
  readonly package: string;
  /** The package in whose place it lies. */
  readonly place: string;
  readonly location: Location;
  readonly owners: PackageOwners;
  readonly placeOwners: PackageOwners;
}

/** A tag of the base branch that a catalog names by a digest now. */
export interface PinnedTag extends NewPin {
  readonly catalog: string;
}

// Digests of what an approval is of: of each subject, what the change replaces (before
// and after, place by place) and its classes. A merge of the base branch that touches
// neither side keeps them; other content below or above, or another class, does not.

/** Digest of each subject of a change, by the subject's name: of all that is called so, such as a catalog in two folders. */
export function subjectDigests(change: Change): ReadonlyMap<string, string> {
  const subjects = groupedBy([...change.packages.values(), ...change.areas], subjectOf);
  return new Map(
    [...subjects].map(([name, parts]) => {
      const [first = '', ...others] = parts.map(digestOf);
      return [name, others.length === 0 ? first : hashOf([first, ...others])];
    }),
  );
}

/** Digest of a part of a subject: of its classes and sides, in whatever order they were found. */
function digestOf(subject: PackageChange | AreaChange): string {
  const classes = 'name' in subject ? [...subject.classes].sort() : [subject.area];
  const sides = [...subject.sides].sort(([a], [b]) => (a < b ? -1 : 1));
  return hashOf([classes, sides]);
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
