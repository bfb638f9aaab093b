/** What templates are compared in: the catalogs of two trees, and the templates that a pull request changes. Each is read once. */

import type { Blobs } from '../../../catalog/fbc/model.ts';
import { groupedBy } from '../../../catalog/go/grouped.ts';
import { BASIC_SCHEMA, writtenInBasic } from '../../../catalog/opm/template/basic.ts';
import { TemplateError } from '../../../catalog/opm/template/template.ts';
import type { Change } from '../../change/change.ts';
import { emptyContent, type FileReader, loadedFiles, readContent } from '../../change/content.ts';
import { type CatalogUnit, catalogUnits } from '../../change/unit.ts';
import { bytesWithin } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { entryAt } from '../../git/tree.ts';
import type { CheckScene } from '../world/scene.ts';
import { contentKey } from './template-difference.ts';
import { FILE_BYTES, type Mapped, mappingOf } from './template-mapping.ts';

interface ReadScene extends CheckScene {
  /** Outlines are enough: of a catalog its channels and images are compared. */
  readonly reader: FileReader;
}

export interface TemplateScene extends ReadScene {
  /** Units of a package in a tree; without a name those that hold several packages. */
  units(tree: string, name: string | undefined): Promise<readonly CatalogUnit[]>;
  /** The mapping of a package in a tree, as `mappingOf`. */
  mapping(tree: string, name: string): Promise<Mapped | undefined>;
  /** The blobs of one package in a unit of a tree. */
  content(tree: string, name: string, unit: CatalogUnit): Promise<Blobs>;
  /** Whether a basic template that the pull request changes gives a catalog. */
  gives(catalog: Blobs): Promise<boolean>;
}

/** The scene of a check with what templates are compared with. */
export function templateScene(scene: ReadScene): TemplateScene {
  const { objects, policy, reader, change, trees } = scene;
  const kept = new Map<string, Promise<unknown>>();
  const once = <T>(key: readonly unknown[], read: () => Promise<T>): Promise<T> => {
    const text = JSON.stringify(key);
    const known = (kept.get(text) as Promise<T> | undefined) ?? read();
    kept.set(text, known);
    return known;
  };
  /** Default channels of the changed templates, by all else that a catalog must have in common with them. */
  const changed = async (): Promise<ReadonlyMap<string, ReadonlySet<string | undefined>>> => {
    const defaults = new Map<string, Set<string | undefined>>();
    for (const { path } of change.paths.filter(isTemplateFile)) {
      const blobs = await templateAt(scene, trees.merged, path);
      if (!blobs) continue;
      const key = contentKey(blobs);
      defaults.set(key, (defaults.get(key) ?? new Set()).add(blobs.packages[0]?.defaultChannel));
    }
    return defaults;
  };
  return {
    ...scene,
    units: async (tree, name) => {
      const grouped = await once(['units', tree], async () =>
        groupedBy((await catalogUnits(objects, tree, policy.layout)).values(), (unit) => unit.package),
      );
      return grouped.get(name) ?? [];
    },
    mapping: (tree, name) => once(['mapping', tree, name], () => mappingOf(scene, tree, name)),
    content: async (tree, name, unit) => {
      const { packages } = await once(['content', tree, unit.path], async () =>
        readContent(reader, await loadedFiles(objects, tree, unit)),
      );
      return packages.get(name) ?? emptyContent();
    },
    gives: async (catalog) => {
      const defaults = (await once(['changed'], changed)).get(contentKey(catalog));
      const own = catalog.packages[0]?.defaultChannel;
      if (!defaults) return false;
      // As in `differenceOf`, a default channel that one of them lacks is not a difference.
      return own === undefined || defaults.has(own) || defaults.has(undefined);
    },
  };
}

/** Whether a changed file may be a template by its name and place. */
export function isTemplateFile({ area, path }: Change['paths'][number]): boolean {
  return area !== 'catalog' && TEMPLATE_FILE.test(path);
}

export const TEMPLATE_FILE: RegExp = /\.(?:ya?ml|json)$/;

/** The blobs of a basic template; undefined for any other file. */
export async function templateAt(
  { objects }: Pick<CheckScene, 'objects'>,
  tree: string,
  path: string,
): Promise<Blobs | undefined> {
  const file = await entryAt(objects, tree, path);
  if (!file || whyUnreadable(file.mode) !== undefined) return undefined;
  const bytes = await bytesWithin(objects, file.id, FILE_BYTES);
  // Any changed file may be a template: few are parsed.
  if (!bytes?.includes(BASIC_SCHEMA)) return undefined;
  try {
    return writtenInBasic({ file: path, bytes }, []);
  } catch (error) {
    // The reader of templates reports files that are not templates.
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}
