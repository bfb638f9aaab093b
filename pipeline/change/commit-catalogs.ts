/** The catalogs of a commit, read: those that people write, and those that are made from bundle directories. */

import { createHash } from 'node:crypto';
import { type Blobs, catalogOf, joinedBlobs, placedBlobs } from '../../catalog/fbc/model.ts';
import { renderOrder } from '../../catalog/fbc/render.ts';
import type { Finding } from '../../catalog/finding.ts';
import { appendToGroup } from '../../catalog/go/grouped.ts';
import { compareText } from '../../catalog/go/text.ts';
import type { CatalogSource, SourceFile } from '../../catalog/source.ts';
import type { ReadCatalog } from '../catalogs/read-catalogs.ts';
import { textOf } from '../catalogs/write-blobs.ts';
import { PipelineError } from '../error.ts';
import type { ObjectReader } from '../git/objects.ts';
import { sourceFile } from '../git/source.ts';
import { entryAt, filesBelow } from '../git/tree.ts';
import { catalogNameDefect, isCatalogName, type Layout } from '../policy/layout.ts';
import type { Policy } from '../policy/policy.ts';
import { type ComposedPackage, composedPackage, type ReadBundles } from './community-package.ts';
import { type FileReader, fileReader, loadedFiles } from './content.ts';
import { type CatalogUnit, catalogUnits } from './unit.ts';

/** Which of a commit's catalogs are read; all without names, all packages without packages. */
export interface Selection {
  readonly names?: ReadonlySet<string>;
  readonly packages?: ReadonlySet<string>;
}

/** What reads files of catalogs. */
export type BlobReader = Pick<FileReader, 'read'>;

/**
 * Catalogs by name. A package that cannot be made is left out, and `unread` says why.
 *
 * @param tree id of a tree or commit
 * @param selection.reader gives files as it read them for other commits of the same repository
 */
export async function commitCatalogs(
  objects: ObjectReader,
  tree: string,
  {
    policy,
    names,
    packages,
    reader = fileReader(objects, policy.limits),
  }: Selection & { readonly policy: Policy; readonly reader?: BlobReader },
): Promise<ReadCatalog[]> {
  const { layout } = policy;
  const byCatalog = new Map<string, CatalogUnit[]>();
  for (const unit of (await catalogUnits(objects, tree, layout)).values()) {
    if (names && !names.has(unit.catalog)) continue;
    if (packages && unit.package !== undefined && !packages.has(unit.package)) continue;
    appendToGroup(byCatalog, unit.catalog, unit);
  }
  const read: ReadCatalog[] = [];
  for (const [name, units] of [...byCatalog].sort(([a], [b]) => compareText(a, b))) {
    const source = await wholeCatalog(objects, tree, { layout, name });
    const { blobs, unread, files } = await contentOf({ objects, reader }, tree, units);
    read.push({ name, prefix: '', source, catalog: catalogOf(blobs), unread, files });
  }
  return read;
}

/** The blobs in the files of units, what could not be read, and which files these are. */
async function contentOf(
  { objects, reader }: { readonly objects: ObjectReader; readonly reader: BlobReader },
  tree: string,
  units: readonly CatalogUnit[],
): Promise<{
  readonly blobs: Blobs;
  readonly unread: readonly Finding[];
  readonly files: readonly string[];
}> {
  const parts: Blobs[] = [];
  const unread: Finding[] = [];
  const files: string[] = [];
  for (const unit of units) {
    for (const file of await loadedFiles(objects, tree, unit)) {
      const { blobs, findings } = await reader.read(file);
      parts.push(file.composed ? blobs : placedBlobs(blobs, file.path));
      for (const finding of findings) unread.push(finding);
      files.push(`${file.path}\n${file.id}`);
    }
  }
  return { blobs: joinedBlobs(parts), unread, files };
}

// A catalog as a commit holds it, whole: what `opm` would be given in a checkout, without one.

interface NamedCatalog {
  readonly layout: Layout;
  readonly name: string;
}

/**
 * The files of a catalog, by their paths in the repository. A catalog that the layout puts into several
 * folders is all of them.
 *
 * @param tree id of a tree or commit
 * @throws PipelineError `not-found` when the tree holds no such catalog
 */
export async function wholeCatalog(
  objects: ObjectReader,
  tree: string,
  { layout, name }: NamedCatalog,
): Promise<CatalogSource> {
  const units = [...(await catalogUnits(objects, tree, layout)).values()];
  const own = units.filter(({ catalog }) => catalog === name);
  const roots = new Set(own.filter(({ composed }) => !composed).map(({ root }) => root));
  if (own.length === 0) throw noSuchCatalog(name, new Set(units.map(({ catalog }) => catalog)));
  const files: SourceFile[] = [];
  for (const root of roots) files.push(...(await filesAt(objects, tree, root)));
  // What is composed has no object of its own.
  const written = new Set(files.flatMap(({ identity }) => identity ?? []));
  const bundles: ReadBundles = new Map();
  for (const { composed, id } of own)
    if (composed) files.push(composedFile(objects, { tree: id, composed }, bundles));
  return {
    files: async () => files,
    bring: (some) =>
      objects.prefetch(some.flatMap(({ identity = '' }) => (written.has(identity) ? [identity] : []))),
  };
}

/**
 * The files of a catalog whose image is written to places that are called after it.
 *
 * @throws PipelineError as `wholeCatalog`, and `usage` for a name that could lead elsewhere, such as `..`
 */
export function catalogToBuild(
  objects: ObjectReader,
  tree: string,
  named: NamedCatalog,
): Promise<CatalogSource> {
  if (!isCatalogName(named.name))
    throw new PipelineError('usage', catalogNameDefect(named.name), { hint: 'rename the catalog' });
  return wholeCatalog(objects, tree, named);
}

/** The file that a package composed from bundle directories would be. */
function composedFile(
  objects: ObjectReader,
  { tree, composed }: { readonly tree: string; readonly composed: ComposedPackage },
  bundles: ReadBundles,
): SourceFile {
  return {
    path: `${composed.folder}/catalog.json`,
    identity: createHash('sha256')
      .update(JSON.stringify([tree, composed]))
      .digest('hex'),
    read: async () => {
      const { blobs, findings } = await composedPackage(objects, { tree, composed }, bundles);
      const error = findings.find(({ severity }) => severity === 'error');
      if (!error) return new TextEncoder().encode(textOf(renderOrder(blobs), 'json'));
      const { location, message, hint } = error;
      throw new PipelineError('usage', `${location.file}:${location.line}: ${message}`, hint ? { hint } : {});
    },
  };
}

/** The files of a catalog's folder, or its only file. */
async function filesAt(objects: ObjectReader, tree: string, root: string): Promise<SourceFile[]> {
  const entry = await entryAt(objects, tree, root);
  if (!entry) throw new PipelineError('git', `${root} is not in the tree ${tree}`);
  const files = await filesBelow(objects, { path: root, ...entry });
  return files.map((file) => sourceFile(objects, file));
}

/** The error for a catalog that the commit lacks, with the names of those that it has. */
function noSuchCatalog(name: string, known: ReadonlySet<string>): PipelineError {
  const names = [...known].sort(compareText).join(', ');
  return new PipelineError('not-found', `no catalog ${JSON.stringify(name)} in the commit`, {
    hint:
      known.size === 0
        ? 'the layout in the policy does not match any file (docs/policy.md#layout)'
        : `the commit contains: ${names}`,
  });
}
