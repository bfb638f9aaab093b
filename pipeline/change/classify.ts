/**
 * Classification: from the trees of the base branch and of the merge to what a pull
 * request changes. Everything is read from git objects; what is not known is unsafe.
 */
import type { Finding } from '../../catalog/finding.ts';
import { MOST_STEPS } from '../../catalog/go/steps.ts';
import { compareText } from '../../catalog/go/text.ts';
import type { TagDigests } from '../../catalog/references/same-image.ts';
import type { ObjectReader } from '../git/objects.ts';
import { diffTrees, type PathChange, type TreeDiff } from '../git/tree.ts';
import {
  comparedOwnersReader,
  ownersReader,
  type PackageOwners,
  sameOwners,
} from '../policy/owners/owners.ts';
import type { Policy } from '../policy/policy.ts';
import { type CatalogTree, compareCatalogs, sharedPackages } from './catalogs.ts';
import type { Change, ForeignBlob, PackageChange } from './change.ts';
import {
  type ChangedPath,
  type ClassificationInput,
  claimedPackages,
  newNameFindings,
  type Trees,
} from './classification-input.ts';
import { type ChangeBudget, fileReader, type KeptFiles } from './content.ts';
import { compareFiles, compareNamedBundles } from './files.ts';
import type { ForeignPlace } from './foreign-blobs.ts';
import { finishDraft, newDrafts, type PackageDraft } from './package-draft.ts';
import { MAY_BE_CATALOG, placePaths } from './path.ts';
import { bringNeeded } from './prefetch.ts';
import { areasOf } from './repository-areas.ts';
import { catalogUnits, packageFolders, packagesIn } from './unit.ts';
import { unsafePaths } from './unsafe-paths.ts';

/** What helps to classify. */
export interface Knowledge {
  /** Contents that were read before. */
  readonly files?: KeptFiles | undefined;
  /** What the base's tags are known to stand for. */
  readonly digests?: TagDigests;
}

/**
 * Says what a pull request changes.
 *
 * @throws PipelineError `not-found` when the clone lacks objects, `too-large` for tree bombs
 */
export async function classifyChange(
  objects: ObjectReader,
  trees: Trees,
  policy: Policy,
  { files, digests = new Map() }: Knowledge = {},
): Promise<Change> {
  const diff = await checkedDiff(objects, trees, policy);
  const paths = await placePaths(objects, diff.changes, policy, trees);
  await bringNeeded(objects, { trees, policy, paths });
  const unsafe = await unsafePaths(objects, { diff, placed: paths, merged: trees.merged, policy });
  // What is too large is not read.
  if (unsafe.some(({ rule }) => rule === 'path/limits')) return unreadChange(paths, unsafe);
  // Reading the new files counts it down.
  const values = { left: MOST_VALUES };
  const scene = await inputOf(
    objects,
    { trees, policy, paths, unlisted: diff.unlisted ?? [] },
    { files, values },
  );
  const catalogs = await compareCatalogs(
    { ...scene, paths: paths.map(({ path }) => path), claimed: claimedPackages(scene), digests },
    scene.drafts,
  );
  const others = await compareFiles(scene);
  if (values.left < 0) return unreadChange(paths, [...unsafe, TOO_MANY_VALUES]);
  const mostEntries = PACKAGES_AT_LIMIT * policy.limits.entries;
  if (catalogs.entries > mostEntries)
    return unreadChange(paths, [...unsafe, tooManyEntries(catalogs.entries, mostEntries)]);
  await settlePackages(scene);
  // Afterwards: a package that only has a bundle outside the layout is not a new one.
  await compareNamedBundles(scene);
  const packages = await withOwners(scene);
  return {
    paths,
    packages,
    contents: catalogs.contents,
    pins: catalogs.pins,
    areas: areasOf(scene, [...catalogs.outsidePackages, ...others.outsidePackages], catalogs),
    foreign: await foreignBlobs(scene, [...catalogs.foreign, ...others.foreign]),
    unsafe: [...unsafe, ...catalogs.unread, ...others.unread, ...nameFindings(packages, policy)],
    isRead: true,
    unread: catalogs.unreadParts,
    ownerDefects: ownersFindings(packages, paths),
  };
}

/** Most values of the files of a change: about 800 MB. Real catalogs have one in 55 bytes. */
const MOST_VALUES = 3_000_000;

const TOO_MANY_VALUES: Finding = {
  rule: 'path/limits',
  severity: 'error',
  message: `the changed files have more than ${MOST_VALUES} values`,
  location: { file: '', line: 1, column: 1 },
  hint: 'split the pull request',
};

/** A change may have the entries of so many packages at the limit. Of 527 real merges, none has more than 630 entries. */
const PACKAGES_AT_LIMIT = 3;

function tooManyEntries(count: number, most: number): Finding {
  return {
    ...TOO_MANY_VALUES,
    message: `the changed packages have ${count} entries in their channels, with the alternatives of their ranges; the limit is ${most}`,
    hint: 'split the pull request, or raise limits.entries in the policy',
  };
}

/** Most files of a change of which only those that matter are looked into. */
const MOST_PATHS = 100_000;

/** The changed files. If there are more than the limit, all that can matter, and as many others as fit. */
async function checkedDiff(
  objects: ObjectReader,
  trees: Trees,
  policy: Policy,
): Promise<TreeDiff & Partial<Pick<ClassificationInput, 'unlisted'>>> {
  const sides = { before: trees.base, after: trees.merged };
  const { layout, limits } = policy;
  const { files: most } = limits;
  const diff = await diffTrees(objects, sides, most);
  if (diff.complete) return diff;
  const all = await diffTrees(objects, sides, Math.max(most, MOST_PATHS));
  if (!all.complete) return diff;
  const placed = await placePaths(objects, all.changes, policy, trees);
  const mayStayUnlisted = (_: PathChange, i: number): boolean => {
    // A path without a place would count as one of the gate, which always matters.
    const { area, path } = placed[i] ?? { area: 'gate', path: '' };
    const isInFolder = layout.serves(path) || layout.isBesideCatalog(path);
    const mayBeCatalog = MAY_BE_CATALOG.test(path) || layout.governs(path) || isInFolder;
    return area === 'unknown' && !mayBeCatalog;
  };
  const needed = all.changes.filter((change, i) => !mayStayUnlisted(change, i));
  if (needed.length >= most) return diff;
  const others = all.changes.filter(mayStayUnlisted);
  const unlisted = others.slice(most - needed.length);
  const isUnlisted = new Set(unlisted);
  return { changes: all.changes.filter((change) => !isUnlisted.has(change)), unlisted, complete: true };
}

/** The change of a pull request whose unsafe paths keep it from being read. */
function unreadChange(paths: readonly ChangedPath[], unsafe: readonly Finding[]): Change {
  return {
    paths,
    packages: new Map(),
    contents: new Map(),
    pins: [],
    areas: [],
    foreign: [],
    unsafe,
    isRead: false,
    unread: [],
    ownerDefects: [],
  };
}

/** What the classification of a change reads: the units and packages of both trees. */
async function inputOf(
  objects: ObjectReader,
  { trees, policy, paths, unlisted }: Pick<ClassificationInput, 'trees' | 'policy' | 'paths' | 'unlisted'>,
  { files, values }: Pick<Knowledge, 'files'> & Pick<ChangeBudget, 'values'>,
): Promise<ClassificationInput> {
  const { layout, limits } = policy;
  const ids = new Set(paths.flatMap(({ after }) => (after ? [after.id] : [])));
  return {
    objects,
    reader: fileReader(objects, limits, files, { ids, values }),
    policy,
    trees,
    paths,
    unlisted,
    drafts: newDrafts(),
    before: await packagesIn(objects, trees.base, layout),
    after: await packagesIn(objects, trees.merged, layout),
    base: { tree: trees.base, units: await catalogUnits(objects, trees.base, layout) },
    merged: { tree: trees.merged, units: await catalogUnits(objects, trees.merged, layout) },
  };
}

/** Settles the classes of packages. One that is new or gone is only that. */
async function settlePackages(scene: ClassificationInput): Promise<void> {
  const inCatalogs = (units: CatalogTree['units'], name: string): boolean =>
    [...units.values()].some((unit) => unit.package === name);
  const existed = await existenceCheck(scene, scene.base, scene.before);
  const exists = await existenceCheck(scene, scene.merged, scene.after);
  for (const { name, classes, kinds } of scene.drafts.all.values()) {
    // The composite file already lists it, and its content may be in another repository: it is neither new nor gone.
    if (kinds.has('composite') && kinds.size === 1) continue;
    if (!existed(name)) {
      classes.clear();
      classes.add('new-package');
    } else if (!exists(name)) {
      classes.clear();
      classes.add('delete-package');
    } else if (inCatalogs(scene.base.units, name) && !inCatalogs(scene.merged.units, name)) {
      // A folder of it stays, such as that of its bundles, but no catalog has it any more.
      classes.delete('prune');
      classes.add('delete-package');
    }
  }
}

/** Tells whether a package is in a tree: in a place of its own, or in a file that several packages share. */
async function existenceCheck(
  { objects, reader, drafts }: ClassificationInput,
  side: CatalogTree,
  placed: ReadonlySet<string>,
): Promise<(name: string) => boolean> {
  // Shared files are only read for packages without a place of their own.
  const isUndecided = [...drafts.all.keys()].some((name) => !placed.has(name));
  const shared = isUndecided ? await sharedPackages(objects, reader, side) : new Set<string>();
  return (name) => placed.has(name) || shared.has(name);
}

/** Every changed package with its owners before and after the change. */
async function withOwners(scene: ClassificationInput): Promise<Map<string, PackageChange>> {
  const { objects, policy, trees, drafts, paths } = scene;
  const steps = { left: MOST_STEPS };
  // GitHub goes by the `CODEOWNERS` of the base branch, so only its owners are compared with it.
  const base = comparedOwnersReader(objects, trees.base, policy, steps);
  const merged = ownersReader(objects, trees.merged, policy, steps);
  const config = new Set(
    paths
      .filter(({ area, namesOwners }) => namesOwners || area === 'owners' || area === 'packageConfig')
      .map(({ path }) => path),
  );
  const packages = new Map<string, PackageChange>();
  for (const draft of [...drafts.all.values()].sort((a, b) => compareText(a.name, b.name))) {
    const asked = await pathsOf(scene, draft);
    const owners = {
      before: await base.ownersOf(draft.name, asked),
      after: await merged.ownersOf(draft.name, asked),
    };
    const hasOwners = owners.before.identities.length > 0 || owners.after.identities.length > 0;
    // A new or a deleted package needs approvals of its own.
    const isLasting = !draft.classes.has('new-package') && scene.after.has(draft.name);
    if (
      isLasting &&
      hasOwners &&
      [...draft.paths].some((path) => config.has(path)) &&
      !sameOwners(owners.before, owners.after)
    ) {
      draft.classes.add('ownership');
    }
    packages.set(draft.name, finishDraft(draft, owners));
  }
  return packages;
}

/** Paths of a package for which its owners are asked: the changed ones, else where it lies. */
async function pathsOf(
  { objects, trees, policy }: ClassificationInput,
  { name, paths }: Pick<PackageDraft, 'name' | 'paths'>,
): Promise<string[]> {
  if (paths.size > 0) return [...paths];
  // Owners are asked for files: any name in its folder stands for the package.
  const folders = await packageFolders(objects, trees.base, policy.layout);
  return folders.filter((folder) => folder.package === name).map(({ path }) => `${path}/_`);
}

/** Blobs in places of other packages, with the owners of both: these may be the same people. */
async function foreignBlobs(
  scene: ClassificationInput,
  places: readonly ForeignPlace[],
): Promise<ForeignBlob[]> {
  const reader = ownersReader(scene.objects, scene.trees.base, scene.policy);
  const ownersOf = async (name: string): Promise<PackageOwners> =>
    reader.ownersOf(name, await pathsOf(scene, { name, paths: new Set() }));
  const blobs: ForeignBlob[] = [];
  for (const place of places) {
    blobs.push({ ...place, owners: await ownersOf(place.package), placeOwners: await ownersOf(place.place) });
  }
  return blobs;
}

/** Findings about new packages whose names are not valid, or are reserved for others. */
function nameFindings(packages: ReadonlyMap<string, PackageChange>, policy: Policy): Finding[] {
  return [...packages.values()]
    .filter(({ classes }) => classes.has('new-package'))
    .flatMap(({ name, paths, elsewhere }) => {
      const [file = ''] = [...paths, ...elsewhere];
      return newNameFindings(policy, name, { file, line: 1, column: 1 });
    });
}

/** Files of owners that the pull request leaves unreadable. */
function ownersFindings(
  packages: ReadonlyMap<string, PackageChange>,
  paths: readonly ChangedPath[],
): Finding[] {
  const changed = new Set(paths.map(({ path }) => path));
  return [...packages.values()].flatMap(({ ownersAfter }) =>
    ownersAfter.findings.filter(
      ({ severity, location }) => severity === 'error' && changed.has(location.file),
    ),
  );
}
