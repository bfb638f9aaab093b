/** What changes beside the catalogs themselves: templates, settings, bundles, composite files. */

import { isIgnoreFile } from '../../catalog/fbc/ignore.ts';
import type { Finding } from '../../catalog/finding.ts';
import { isObject } from '../../catalog/go/shape.ts';
import { type Composite, readComposite } from '../catalogs/render/composite.ts';
import { whyUnreadable } from '../git/source.ts';
import { entryAt, listFiles, type PathChange } from '../git/tree.ts';
import { bundleFolderOf, isVersionFolder } from '../policy/layout.ts';
import type { AllowableClass } from '../policy/policy.ts';
import { sharedPackages } from './catalogs.ts';
import {
  type ChangedPath,
  type ClassificationInput,
  claimedPackages,
  newNameFindings,
} from './classification-input.ts';
import {
  type ForeignPlace,
  type Named,
  packagesOfBundle,
  packagesOfTemplate,
  unusableImage,
} from './foreign-blobs.ts';
import { namedBundles } from './named-bundles.ts';
import { contentText, noteDetail, type PackageDraft } from './package-draft.ts';

interface FilesFound {
  readonly foreign: ForeignPlace[];
  /** Changed files that cannot be read, severity error. */
  readonly unread: Finding[];
  /** Files in which more than one package's own part changes. */
  readonly outsidePackages: string[];
  /** Packages that a composite file lists from now on. */
  readonly listed: Composite['references'][number][];
}

/** Everything but the catalogs themselves; classes and paths go into the drafts. */
export async function compareFiles(scene: ClassificationInput): Promise<FilesFound> {
  const found: FilesFound = { foreign: [], unread: [], outsidePackages: [], listed: [] };
  for (const path of scene.paths) {
    if (path.area === 'composite') await compareComposite(scene, path, found);
    else if (path.package !== undefined) await comparePath(scene, { ...path, package: path.package }, found);
  }
  for (const finding of await listedNameFindings(scene, found.listed)) found.unread.push(finding);
  return found;
}

type PackagePath = ChangedPath & { readonly package: string };

/** Notes in the draft of the package, and in `found`, what a changed file means. Files of catalogs are compared by their blobs. */
async function comparePath(scene: ClassificationInput, path: PackagePath, found: FilesFound): Promise<void> {
  const draft = scene.drafts.draftOf(path.package);
  draft.paths.add(path.path);
  draft.sides.set(path.path, fileSides(path));
  switch (path.area) {
    case 'template':
      draft.kinds.add('template');
      draft.classes.add('edit-graph');
      await compareTemplate(scene, path, found);
      break;
    case 'bundle': {
      const folder = bundleFolderOf(scene.policy.layout, path.path);
      found.foreign.push(
        ...foreignNames(
          scene,
          { place: path.package, at: folder, sides: await folderSides(scene, folder) },
          await packagesOfBundle(scene.objects, path, {
            ...scene.trees,
            folder,
            most: scene.policy.limits.fileBytes,
          }),
        ),
      );
      await noteBundle(scene, { folder, named: path.version ?? '', isOneVersion: true }, draft);
      break;
    }
    case 'packageConfig':
    case 'owners':
      draft.kinds.add('packageConfig');
      draft.classes.add('package-config');
      break;
  }
  // What it leaves out later is not an entry, whatever else the pull request adds.
  if (isIgnoreFile(path.path)) draft.classes.add('edit-graph');
  if (path.namesOwners) draft.classes.add('package-config');
}

/** Notes in `found` the packages of others that a template in a package's folder names. */
async function compareTemplate(
  scene: ClassificationInput,
  path: PackagePath,
  found: FilesFound,
): Promise<void> {
  const { named, unread } = await packagesOfTemplate(scene.reader, path);
  for (const finding of unread) found.unread.push(finding);
  const where = { place: path.package, at: path.path, sides: fileSides(path) };
  for (const place of foreignNames(scene, where, named)) found.foreign.push(place);
}

type BeforeAfter = readonly [before: string, after: string];

/** Both sides of a changed file, as approvals are of them. */
function fileSides({ before, after }: ChangedPath): BeforeAfter {
  return [contentText(before), contentText(after)];
}

/** Both sides of a bundle's folder, which is approved as a whole. */
async function folderSides({ objects, trees }: ClassificationInput, folder: string): Promise<BeforeAfter> {
  const [before, after] = await Promise.all([
    entryAt(objects, trees.base, folder),
    entryAt(objects, trees.merged, folder),
  ]);
  return [contentText(before), contentText(after)];
}

interface NamingPlace {
  /** The package in whose place the names stand. */
  readonly place: string;
  /** Path of the file or folder with the names. */
  readonly at: string;
  readonly sides: BeforeAfter;
}

/**
 * Names in a file that are not those of its place. A name that belongs to others is foreign, one that belongs to nobody
 * is a new package.
 */
function foreignNames(
  scene: ClassificationInput,
  { place, at, sides }: NamingPlace,
  named: readonly Named[],
): ForeignPlace[] {
  return named.flatMap(({ name, location }) => {
    if (name === place) return [];
    if (claimedPackages(scene)(name)) return [{ package: name, place, location }];
    const draft = scene.drafts.draftOf(name);
    // `settlePackages` makes it a new package.
    draft.classes.add('add-entry');
    draft.elsewhere.add(at);
    draft.sides.set(at, sides);
    return [];
  });
}

/** Notes in the drafts of the packages, and in `found`, what changes in a composite file. */
async function compareComposite(
  { objects, drafts }: ClassificationInput,
  { path, before, after }: ChangedPath,
  found: FilesFound,
): Promise<void> {
  // A submodule has nothing to read, and a link's text is not a composite file: both are as if there were none.
  const bytes = async (file: PathChange['before']): Promise<Uint8Array | undefined> =>
    file && whyUnreadable(file.mode) === undefined ? (await objects.read(file.id)).bytes : undefined;
  const { packages, added, isOutsidePackages, unread } = compositeChange(
    path,
    await bytes(before),
    await bytes(after),
  );
  for (const finding of unread) if (finding.severity === 'error') found.unread.push(finding);
  for (const reference of added) found.listed.push(reference);
  if (isOutsidePackages) found.outsidePackages.push(path);
  for (const { name, images } of packages) {
    const draft = drafts.draftOf(name);
    draft.classes.add('edit-graph');
    draft.kinds.add('composite');
    draft.paths.add(path);
    draft.sides.set(path, images);
    noteDetail(draft, `has a different image in ${path}`);
  }
}

/** Findings about the names of packages that composite files list, and that the base branch has nowhere. */
async function listedNameFindings(
  scene: ClassificationInput,
  listed: FilesFound['listed'],
): Promise<Finding[]> {
  const { objects, reader, policy, before, base } = scene;
  const findings = listed.flatMap(({ name, location }) =>
    before.has(name) ? [] : newNameFindings(policy, name, location),
  );
  if (findings.length === 0) return [];
  const known = new Set(await sharedPackages(objects, reader, base));
  for (const { path, id, mode } of await listFiles(objects, base.tree)) {
    if (policy.layout.match(path)?.kind !== 'composite' || whyUnreadable(mode) !== undefined) continue;
    const { composite } = readComposite(path, (await objects.read(id)).bytes);
    for (const { name } of composite?.references ?? []) known.add(name);
  }
  return findings.filter(({ package: name = '' }) => !known.has(name));
}

interface NotedBundle {
  readonly folder: string;
  /** What the bundle is called in the report. */
  readonly named: string;
  /** Whether the folder has the same version for good. */
  readonly isOneVersion: boolean;
}

/**
 * Notes in the draft that a bundle directory is added, changed or removed. One that has a single version for good is published
 * with it: changing it is as grave as changing a published bundle. Another one, such as `bundle/`, gets the next version.
 */
async function noteBundle(
  scene: ClassificationInput,
  { folder, named, isOneVersion }: NotedBundle,
  draft: PackageDraft,
): Promise<void> {
  const [before, after] = await folderSides(scene, folder);
  draft.kinds.add('bundle');
  draft.sides.set(folder, [before, after]);
  const [changeClass, verb] = bundleChange(before, after, isOneVersion);
  draft.classes.add(changeClass);
  noteDetail(draft, `${verb} bundle ${named}`);
}

/** The class of a change of a bundle's folder, and what the report says of it. @param before empty where there is none */
function bundleChange(
  before: string,
  after: string,
  isOneVersion: boolean,
): readonly [changeClass: AllowableClass, verb: string] {
  if (before === '') return ['add-entry', 'adds'];
  if (after === '') return ['prune', 'loses'];
  return [isOneVersion ? 'mutate-published' : 'add-entry', 'changes'];
}

/**
 * Bundle directories outside the layout: they belong to the packages that their annotations name, before and after, if
 * the policy says whose these are. Whoever must approve files outside the layout is asked besides.
 */
export async function compareNamedBundles(scene: ClassificationInput): Promise<void> {
  const { objects, trees, policy, paths: changed, drafts } = scene;
  if (policy.owners.packages.size === 0) return;
  const search = { trees, paths: changed, most: policy.limits.fileBytes };
  for (const { path: folder, paths, before, after } of await namedBundles(objects, search)) {
    const isOneVersion = isVersionFolder(folder.split('/').at(-1) ?? '');
    for (const name of new Set([before, after])) {
      if (name === undefined || !policy.owners.packages.has(name)) continue;
      const draft = drafts.draftOf(name);
      for (const path of paths) draft.paths.add(path);
      await noteBundle(scene, { folder, named: folder, isOneVersion }, draft);
    }
  }
}

interface CompositeChange {
  /** Packages whose image is another, and nothing else about them. */
  readonly packages: readonly {
    readonly name: string;
    readonly images: readonly [before: string, after: string];
  }[];
  /** The packages that the file did not list. */
  readonly added: Composite['references'];
  /** Whether anything else in the file changed. */
  readonly isOutsidePackages: boolean;
  /** Why the file cannot be read, severity error. */
  readonly unread: readonly Finding[];
}

/**
 * Compares a composite file before and after, as rendering reads it.
 *
 * @param before undefined when the file is new
 * @param after undefined when the file is removed
 */
function compositeChange(
  file: string,
  before: Uint8Array | undefined,
  after: Uint8Array | undefined,
): CompositeChange {
  const { composite: now, findings: unread = [] } = after ? readComposite(file, after) : {};
  const old = before && readComposite(file, before).composite;
  const images: ReadonlyMap<string, string> = old ? imagesOf(old) : new Map();
  const known = new Set(images.values());
  const references = now?.references ?? [];
  const brought = references.filter(({ image }) => !known.has(image));
  const findings = [...unread, ...brought.flatMap(({ image, location }) => unusableImage(image, location))];
  const added = references.filter(({ name }) => !images.has(name));
  if (!old || !now || restOf(old) !== restOf(now))
    return { packages: [], added, isOutsidePackages: true, unread: findings };
  const packages = now.references.flatMap(({ name, image }) => {
    const was = images.get(name) ?? '';
    return was === image ? [] : [{ name, images: [was, image] as const }];
  });
  return { packages, added, isOutsidePackages: false, unread: findings };
}

function imagesOf({ references }: Composite): Map<string, string> {
  return new Map(references.map(({ name, image }) => [name, image]));
}

/** Everything but the images, as text. */
function restOf({ value, references }: Composite): string {
  const list: unknown[] = Array.isArray(value['references']) ? value['references'] : [];
  const rest = list.map((written, i) => [
    references[i]?.name,
    Object.entries(isObject(written) ? written : {}).filter(([key]) => key !== 'name' && key !== 'image'),
  ]);
  return JSON.stringify({ ...value, references: rest });
}
