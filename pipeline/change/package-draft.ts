/** A package's change while it is put together. */
import type { TreeFile } from '../git/tree.ts';
import type { PathKind } from '../policy/layout.ts';
import type { PackageOwners } from '../policy/owners/owners.ts';
import type { AllowableClass } from '../policy/policy.ts';
import type { PackageChange } from './change.ts';

export interface PackageDraft {
  readonly name: string;
  readonly classes: Set<AllowableClass>;
  readonly kinds: Set<PathKind>;
  readonly paths: Set<string>;
  /** Files, and folders of bundles, that name it in places of others. */
  readonly elsewhere: Set<string>;
  readonly catalogs: Set<string>;
  /** What is changed, in words, and in which catalogs. */
  readonly details: Map<string, Set<string>>;
  readonly sides: Map<string, readonly [before: string, after: string]>;
}

/** Drafts by package, made when they are first asked for. */
export interface Drafts {
  draftOf(name: string): PackageDraft;
  readonly all: ReadonlyMap<string, PackageDraft>;
}

/** Drafts by package, each begun when somebody asks for it. */
export function newDrafts(): Drafts {
  const all = new Map<string, PackageDraft>();
  return {
    all,
    draftOf: (name) => {
      const draft = all.get(name) ?? {
        name,
        classes: new Set(),
        kinds: new Set(),
        paths: new Set(),
        elsewhere: new Set(),
        catalogs: new Set(),
        details: new Map(),
        sides: new Map(),
      };
      all.set(name, draft);
      return draft;
    },
  };
}

/** Notes something that changes, once for all catalogs in which it does. */
export function noteDetail(draft: PackageDraft, detail: string, catalog?: string): void {
  const catalogs = draft.details.get(detail) ?? new Set();
  if (catalog !== undefined) catalogs.add(catalog);
  draft.details.set(detail, catalogs);
}

/** A file's or folder's content in one of the trees, as approvals are of it; empty for none. */
export function contentText(entry: TreeFile | undefined): string {
  return entry ? `${entry.mode} ${entry.id}` : '';
}

/** The change of a package, once all its parts are noted. */
export function finishDraft(
  draft: PackageDraft,
  owners: { readonly before: PackageOwners; readonly after: PackageOwners },
): PackageChange {
  const details = [...draft.details].map(([detail, catalogs]) =>
    catalogs.size === 0 ? detail : `${detail} (${[...catalogs].sort().join(', ')})`,
  );
  return {
    name: draft.name,
    classes: draft.classes,
    kinds: draft.kinds,
    paths: [...draft.paths].sort(),
    elsewhere: [...draft.elsewhere].sort(),
    details,
    catalogs: [...draft.catalogs].sort(),
    owners: owners.before,
    ownersAfter: owners.after,
    sides: draft.sides,
  };
}
