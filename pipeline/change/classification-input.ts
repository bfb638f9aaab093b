/** What classification works on: both trees, the policy, and the drafts that it fills. */
import type { Finding, Location } from '../../catalog/finding.ts';
import type { ObjectReader } from '../git/objects.ts';
import type { PathChange } from '../git/tree.ts';
import { isPackageName } from '../policy/layout.ts';
import type { Policy } from '../policy/policy.ts';
import { matchesGlob } from '../text.ts';
import type { CatalogTree } from './catalogs.ts';
import type { FileReader } from './content.ts';
import type { Drafts } from './package-draft.ts';
import type { PlacedPath } from './path.ts';

export interface Trees {
  /** Id of the base branch's tip, or of its tree. */
  readonly base: string;
  /** Id of the tree that the merge gives. */
  readonly merged: string;
}

export type ChangedPath = PlacedPath & PathChange;

export interface ClassificationInput {
  readonly objects: ObjectReader;
  readonly reader: FileReader;
  readonly policy: Policy;
  readonly trees: Trees;
  readonly paths: readonly ChangedPath[];
  /** Changes beyond the limit that nobody has to look into: an approval is of them, too. */
  readonly unlisted: readonly PathChange[];
  readonly drafts: Drafts;
  /** Packages with a place of their own, before and after. */
  readonly before: ReadonlySet<string>;
  readonly after: ReadonlySet<string>;
  /** Both trees with their catalogs. */
  readonly base: CatalogTree;
  readonly merged: CatalogTree;
}

/** Whether a package is somebody's already. */
export function claimedPackages({ before, policy }: ClassificationInput): (name: string) => boolean {
  return (name) =>
    before.has(name) ||
    policy.owners.packages.has(name) ||
    policy.reservedNames.some((pattern) => matchesGlob(pattern, name));
}

/** A finding about the name of a new package if it is not valid, or is reserved for others. */
export function newNameFindings({ reservedNames }: Policy, name: string, location: Location): Finding[] {
  const reserved = reservedNames.find((pattern) => matchesGlob(pattern, name));
  if (reserved === undefined && isPackageName(name)) return [];
  const why = reserved === undefined ? 'not a valid package name' : `reserved (${reserved})`;
  const message = `new package ${JSON.stringify(name)}: the name is ${why}`;
  return [{ rule: 'package/reserved', severity: 'error', message, location, package: name }];
}
