/** Which catalogs are rendered from which template of a package, by `fbc.catalog_mapping` of its `ci.yaml`. */
import type { Finding, Location } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { quoted } from '../../../catalog/names.ts';
import type { CatalogUnit } from '../../change/unit.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import { entryAt, joinPath } from '../../git/tree.ts';
import type { Policy } from '../../policy/policy.ts';
import { readStrictSettings, type Settings } from '../../settings.ts';
import type { CheckScene } from '../world/scene.ts';

/** Largest `ci.yaml` and template that are read, in bytes. */
export const FILE_BYTES: number = 4 * 1024 * 1024;

/** The entries of `ci.yaml` about the templates of a package. */
export interface Mapped {
  readonly name: string;
  readonly folder: string;
  readonly mappings: readonly Mapping[];
  readonly place: Location;
}

/** A mapping in its tree. */
export type PlacedMapping = Mapped & { readonly tree: string };

interface Mapping {
  readonly template: string;
  /** Of the template's name. */
  readonly place: Location;
  readonly catalogs: readonly { readonly name: string; readonly place: Location }[];
}

/** Path of a package's `ci.yaml`: the policy's files of owners may name another place than that of community repositories. */
export function ciPath({ owners }: Policy, name: string): string {
  const source = owners.sources.find(
    ({ path, format }) => format === 'ci.yaml' && path.includes('{package}'),
  );
  // Templates have mappings also where other files, or only the policy, name the owners.
  const { path } = source ?? { path: 'operators/{package}/ci.yaml' };
  return path.replaceAll('{package}', () => name);
}

/** The entries of the package's `ci.yaml` about its templates; undefined if it has none. */
export async function mappingOf(
  { objects, policy }: Pick<CheckScene, 'objects' | 'policy'>,
  tree: string,
  name: string,
): Promise<Mapped | undefined> {
  const path = ciPath(policy, name);
  const file = await entryAt(objects, tree, path);
  if (!file || whyUnreadable(file.mode) !== undefined) return undefined;
  const { settings } = readStrictSettings(path, (await objects.read(file.id, FILE_BYTES)).bytes);
  const fbc = isObject(settings?.value) ? settings.value['fbc'] : undefined;
  const list = isObject(fbc) ? fbc['catalog_mapping'] : undefined;
  if (!settings || !Array.isArray(list) || list.length === 0) return undefined;
  const folder = path.split('/').slice(0, -1).join('/');
  const place = settings.locateKey(['fbc', 'catalog_mapping']);
  return { name, folder, place, mappings: list.flatMap((one, i) => mappingIn(settings, one, i)) };
}

/** A template of the mapping in ci.yaml, with the catalogs rendered from it; empty if its name is not a file name. */
function mappingIn(settings: Settings, written: unknown, i: number): Mapping[] {
  if (!isObject(written)) return [];
  const { template_name: template, catalog_names: names } = written;
  // All templates are in one folder: a name such as `../x` would lead elsewhere.
  if (typeof template !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(template)) return [];
  const catalogs = (Array.isArray(names) ? names : []).map((name, at) => ({
    name: String(name),
    place: settings.locate(['fbc', 'catalog_mapping', i, 'catalog_names', at]),
  }));
  const place = settings.locate(['fbc', 'catalog_mapping', i, 'template_name']);
  return [{ template, place, catalogs }];
}

/**
 * Findings about templates and catalogs that a package's mapping has and the repository lacks, and about catalogs that the
 * mapping lacks.
 */
export async function mappingFindings(
  objects: ObjectReader,
  placed: PlacedMapping,
  units: readonly CatalogUnit[],
): Promise<Finding[]> {
  const { name, mappings, place } = placed;
  // A pull request with the first bundle comes before the one with the catalogs.
  if (units.length === 0) return [];
  const has = new Set(units.map(({ catalog }) => catalog));
  const mapped = mappings.flatMap(({ template, catalogs }) =>
    catalogs.map((catalog) => ({ template, ...catalog })),
  );
  const finding = (message: string, location: Location, hint: string): Finding => ({
    rule: 'drift/mapping',
    severity: 'warning',
    message,
    location,
    hint,
    package: name,
  });
  const missing = mapped
    .filter((catalog) => !has.has(catalog.name))
    .map(({ template, name: catalog, place: at }) =>
      finding(
        `the template ${quoted(template)} is mapped to catalog ${quoted(catalog)}, which has no package ${quoted(name)}`,
        at,
        'render it there, or remove the catalog from catalog_names',
      ),
    );
  const gone: Finding[] = [];
  for (const { template, place: at } of mappings) {
    const path = templatePath(placed, template);
    if (!(await entryAt(objects, placed.tree, path)))
      gone.push(finding(`the template ${quoted(path)} does not exist`, at, 'add it, or remove the mapping'));
  }
  const named = new Set(mapped.map((catalog) => catalog.name));
  const unmapped = [...has].filter((catalog) => !named.has(catalog)).sort(compareText);
  return [
    ...gone,
    ...missing,
    ...unmapped.map((catalog) =>
      finding(
        `catalog ${quoted(catalog)} has package ${quoted(name)}, but no template has it in its mapping`,
        place,
        `catalog_names: [${catalog}]`,
      ),
    ),
  ];
}

/** Path of a template in a mapping. */
export function templatePath({ folder }: Mapped, template: string): string {
  return joinPath(folder, `catalog-templates/${template}`);
}
