/** A catalog as a commit holds it, whole: what `opm` would be given in a checkout, without one. */
import { compareText } from '../../catalog/finding.ts';
import type { CatalogSource, SourceFile } from '../../catalog/source.ts';
import { PipelineError } from '../error.ts';
import type { ObjectReader } from '../git/objects.ts';
import { sourceFile } from '../git/source.ts';
import { entryAt, isTree, joinPath, listFiles } from '../git/tree.ts';
import type { Layout } from '../policy/layout.ts';
import { catalogUnits } from './unit.ts';

export interface NamedCatalog {
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
  const roots = new Set(units.filter(({ catalog }) => catalog === name).map(({ root }) => root));
  if (roots.size === 0) throw noSuchCatalog(name, new Set(units.map(({ catalog }) => catalog)));
  const files: SourceFile[] = [];
  for (const root of roots) files.push(...(await filesAt(objects, tree, root)));
  return { files: async () => files };
}

async function filesAt(objects: ObjectReader, tree: string, root: string): Promise<SourceFile[]> {
  const entry = await entryAt(objects, tree, root);
  if (!entry) throw new PipelineError('git', `${root} is not in the tree ${tree}`);
  if (!isTree(entry.mode)) return [sourceFile(objects, { path: root, ...entry })];
  const inside = await listFiles(objects, entry.id);
  return inside.map((file) => sourceFile(objects, { ...file, path: joinPath(root, file.path) }));
}

function noSuchCatalog(name: string, known: ReadonlySet<string>): PipelineError {
  const names = [...known].sort(compareText).join(', ');
  return new PipelineError('not-found', `the commit holds no catalog ${JSON.stringify(name)}`, {
    hint:
      known.size === 0
        ? 'the layout of the policy matches nothing in it (docs/policy.md#layout)'
        : `it holds: ${names}`,
  });
}
