/**
 * Catalogs and the templates that they are rendered from, side by side in one repository: whoever changes one
 * and forgets the other has published something that the next rendering takes away. Nothing is rendered here:
 * a basic template says its channels and the images of its bundles itself.
 */

import { dirname } from 'node:path/posix';
import type { Blobs, Channel } from '../../../catalog/fbc/model.ts';
import { locate } from '../../../catalog/fbc/model.ts';
import type { Finding, Location } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { shellWord } from '../../../catalog/names.ts';
import { BASIC_SCHEMA, writtenInBasic } from '../../../catalog/opm/template/basic.ts';
import { TemplateError } from '../../../catalog/opm/template/template.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { quoted } from '../../../catalog/rules/rule.ts';
import { isWithin } from '../../change/catalogs.ts';
import { emptyContent, type FileReader, loadedFiles, readContent } from '../../change/content.ts';
import { type CatalogUnit, catalogUnits } from '../../change/unit.ts';
import { whyUnreadable } from '../../git/source.ts';
import { entryAt } from '../../git/tree.ts';
import type { PathKind } from '../../policy/layout.ts';
import { severitiesOf } from '../../policy/severity.ts';
import { readStrictSettings, type Settings } from '../../settings.ts';
import type { CheckScene } from '../world/scene.ts';
import type { CatalogResult } from './catalog-rules.ts';

/** What templates are compared in. */
interface TemplateScene extends CheckScene {
  /** Outlines are enough: of a catalog its channels and images are compared. */
  readonly reader: FileReader;
}

/** Findings of the packages that a pull request changes; what the base branch has as well is known. */
export async function checkTemplates(scene: TemplateScene): Promise<CatalogResult[]> {
  const { base, merged } = scene.trees;
  const beside = { findings: await besideFindings(scene), known: [], diffs: [] };
  const names = [...scene.change.packages.values()].filter(({ kinds }) => !isAside(kinds));
  if (names.length === 0) return [beside];
  const before = await driftIn(
    scene,
    base,
    names.map(({ name }) => name),
  );
  const after = await driftIn(
    scene,
    merged,
    names.map(({ name }) => name),
  );
  const old = new Set(before.map(({ message }) => message));
  return [
    beside,
    {
      findings: after.filter(({ message }) => !old.has(message)),
      known: after.filter(({ message }) => old.has(message)),
      diffs: [],
    },
  ];
}

/** Whether only bundles and images change, of which nothing is rendered yet. */
function isAside(kinds: ReadonlySet<PathKind>): boolean {
  return kinds.size > 0 && [...kinds].every((kind) => kind === 'bundle' || kind === 'composite');
}

/** Largest `ci.yaml` and template that are read, in bytes. */
const FILE_BYTES = 4 * 1024 * 1024;

/** Findings about packages whose templates and catalogs differ, in one tree. */
async function driftIn(scene: TemplateScene, tree: string, names: readonly string[]): Promise<Finding[]> {
  const units = [...(await catalogUnits(scene.objects, tree, scene.policy.layout)).values()];
  const found: Finding[] = [];
  for (const name of names) {
    const mapped = await mappingOf(scene, tree, name);
    if (!mapped) continue;
    const own = units.filter((unit) => unit.package === name);
    found.push(...mappingFindings(mapped, own), ...(await templateFindings(scene, { ...mapped, tree }, own)));
  }
  return underPolicy(scene, found);
}

/** Findings with the severities of the policy; those of rules that are off are left out. */
function underPolicy({ policy }: Pick<CheckScene, 'policy'>, found: readonly Finding[]): Finding[] {
  const severityOf = severitiesOf(policy);
  return found.flatMap((finding) => {
    const rule = RULES.find(({ id }) => id === finding.rule);
    const severity = rule ? severityOf(rule) : finding.severity;
    return severity === 'off' ? [] : [{ ...finding, severity }];
  });
}

/** The entries of `ci.yaml` about the templates of a package. */
export interface Mapped {
  readonly name: string;
  readonly folder: string;
  readonly mappings: readonly Mapping[];
  readonly place: Location;
}

interface Mapping {
  readonly template: string;
  readonly type: string;
  readonly catalogs: readonly { readonly name: string; readonly place: Location }[];
}

/** The entries of the package's `ci.yaml` about its templates; undefined if it has none. */
export async function mappingOf(
  { objects, policy }: Pick<CheckScene, 'objects' | 'policy'>,
  tree: string,
  name: string,
): Promise<Mapped | undefined> {
  const source = policy.owners.sources.find(
    ({ path, format }) => format === 'ci.yaml' && path.includes('{package}'),
  );
  const path = source?.path.replaceAll('{package}', () => name);
  const file = path === undefined ? undefined : await entryAt(objects, tree, path);
  if (path === undefined || !file || whyUnreadable(file.mode) !== undefined) return undefined;
  const { settings } = readStrictSettings(path, (await objects.read(file.id, FILE_BYTES)).bytes);
  const fbc = isObject(settings?.value) ? settings.value['fbc'] : undefined;
  const list = isObject(fbc) ? fbc['catalog_mapping'] : undefined;
  if (!settings || !Array.isArray(list) || list.length === 0) return undefined;
  const folder = path.slice(0, path.lastIndexOf('/'));
  const place = settings.locateKey(['fbc', 'catalog_mapping']);
  return { name, folder, place, mappings: list.flatMap((one, i) => mappingIn(settings, one, i)) };
}

/** A template of the mapping in ci.yaml, with the catalogs rendered from it; empty if its name is not a file name. */
function mappingIn(settings: Settings, written: unknown, i: number): Mapping[] {
  if (!isObject(written)) return [];
  const { template_name: template, type, catalog_names: names } = written;
  // All templates are in one folder: a name such as `../x` would lead elsewhere.
  if (typeof template !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(template)) return [];
  const catalogs = (Array.isArray(names) ? names : []).map((name, at) => ({
    name: String(name),
    place: settings.locate(['fbc', 'catalog_mapping', i, 'catalog_names', at]),
  }));
  return [{ template, type: typeof type === 'string' ? type : '', catalogs }];
}

/** Findings about catalogs that a package's mapping has and the repository lacks, and the other way round. */
function mappingFindings({ name, mappings, place }: Mapped, units: readonly CatalogUnit[]): Finding[] {
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
  const named = new Set(mapped.map((catalog) => catalog.name));
  const unmapped = [...has].filter((catalog) => !named.has(catalog)).sort(compareText);
  return [
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

type PlacedTemplate = Mapped & { readonly tree: string };

/**
 * Findings about basic templates that differ from a catalog rendered from them. Equal ones of several catalogs are one
 * finding.
 */
async function templateFindings(
  scene: TemplateScene,
  placed: PlacedTemplate,
  units: readonly CatalogUnit[],
): Promise<Finding[]> {
  const found = new Map<string, Finding>();
  for (const { template, catalogs } of placed.mappings.filter((one) => one.type === BASIC_SCHEMA)) {
    const path = templatePath(placed, template);
    const wanted = await templateAt(scene, placed.tree, path);
    if (!wanted) continue;
    for (const unit of units.filter(({ catalog }) => catalogs.some(({ name }) => name === catalog))) {
      const is = await contentOf(scene, placed, unit);
      const difference = differenceOf(wanted, is);
      if (!difference) continue;
      const finding = driftFinding(difference, { path, unit, name: placed.name });
      const known = found.get(finding.message);
      const all = [...(known?.catalogs ?? []), unit.catalog].sort(compareText);
      found.set(finding.message, { ...finding, catalogs: all });
    }
  }
  return [...found.values()];
}

interface Pair {
  /** Path of the template. */
  readonly path: string;
  readonly unit: CatalogUnit;
  /** Name of the package. */
  readonly name: string;
}

/** The finding that a template and a catalog differ, at the place in the template if it has one. */
function driftFinding({ text, location }: Difference, { path, unit, name }: Pair): Finding {
  const file = /\.(?:ya?ml|json)$/.test(unit.path) ? unit.path : `${unit.path}/catalog.yaml`;
  return {
    rule: 'drift/template',
    severity: 'warning',
    message: `${path} and its rendered catalog differ: ${text}`,
    location: location ?? { file: path, line: 1, column: 1 },
    hint: `portolan opm alpha render-template basic ${shellWord(path)} > ${shellWord(file)}`,
    package: name,
    catalogs: [unit.catalog],
  };
}

/**
 * Findings about a template that no mapping names, in the folder that its catalog is in, or changed together with one of its
 * catalogs: that a catalog is rendered from it is certain where the two are the same on the base branch.
 */
async function besideFindings(scene: TemplateScene): Promise<Finding[]> {
  const { base, merged } = scene.trees;
  const unitsOf = async (tree: string): Promise<CatalogUnit[]> =>
    [...(await catalogUnits(scene.objects, tree, scene.policy.layout)).values()].filter(
      ({ composed }) => !composed,
    );
  const before = await unitsOf(base);
  const after = await unitsOf(merged);
  const changesInCatalogs = (name: string): boolean =>
    [...scene.change.contents.values()].some((names) => names.has(name));
  const found: Finding[] = [];
  for (const path of await templatesBeside(scene, before)) {
    const [was, is] = [await templateAt(scene, base, path), await templateAt(scene, merged, path)];
    const name = was?.packages[0]?.name;
    // A template that is new or gone has nothing on the base branch that could be rendered from it.
    if (!was || !is || name === undefined) continue;
    const all = before.filter((unit) => (unit.package ?? name) === name);
    const inFolder = all.filter((unit) => isWithin(unit.root, dirname(path)));
    const rendered = await renderedFrom(scene, inFolder.length === 1 ? inFolder : all, { was, name });
    const differing: Finding[] = [];
    for (const own of rendered) {
      const unit = after.find((one) => one.path === own.path);
      const difference = unit && differenceOf(is, await contentOf(scene, { tree: merged, name }, unit));
      if (difference) differing.push(driftFinding(difference, { path, unit, name }));
    }
    // A template for several catalogs may be rendered later: but not where other catalogs of the package get what is new.
    if (rendered.length === 1 || changesInCatalogs(name)) found.push(...differing);
  }
  return underPolicy(scene, found);
}

/** Catalogs that are the same as a template on the base branch. */
async function renderedFrom(
  scene: TemplateScene,
  units: readonly CatalogUnit[],
  { was, name }: { readonly was: Blobs; readonly name: string },
): Promise<CatalogUnit[]> {
  const found: CatalogUnit[] = [];
  for (const unit of units)
    if (!differenceOf(was, await contentOf(scene, { tree: scene.trees.base, name }, unit))) found.push(unit);
  return found;
}

/** Paths of files that may be templates: those in folders above a single catalog that changes, and those that change themselves. */
async function templatesBeside(scene: TemplateScene, units: readonly CatalogUnit[]): Promise<Set<string>> {
  const { objects, change, trees } = scene;
  const catalogsBelow = new Map<string, Set<string>>();
  const above = ({ root }: CatalogUnit): string[] => {
    const names = root.split('/').slice(0, -1);
    return names.map((_, i) => names.slice(0, i + 1).join('/'));
  };
  for (const unit of units)
    for (const folder of above(unit))
      catalogsBelow.set(folder, (catalogsBelow.get(folder) ?? new Set()).add(unit.catalog));
  const hasOneCatalog = (folder: string): boolean => catalogsBelow.get(folder)?.size === 1;
  const changed = new Set(change.paths.flatMap(({ catalog }) => catalog ?? []));
  const folders = new Set(
    units
      .filter(({ catalog }) => changed.has(catalog))
      .flatMap(above)
      .filter(hasOneCatalog),
  );
  const hasCatalog = change.paths.some(({ area }) => area === 'catalog');
  const own = change.paths.filter(({ area, path }) => area !== 'catalog' && TEMPLATE_FILE.test(path));
  const paths = new Set<string>();
  for (const { path, package: name } of own) {
    // What ci.yaml maps is compared by that.
    const isMapped = async (): Promise<boolean> =>
      name !== undefined && (await mappingOf(scene, trees.merged, name)) !== undefined;
    if (hasOneCatalog(dirname(path)) || (hasCatalog && !(await isMapped()))) paths.add(path);
  }
  for (const folder of folders) {
    const entry = await entryAt(objects, trees.base, folder);
    for (const { name } of entry ? await objects.tree(entry.id) : [])
      if (TEMPLATE_FILE.test(name)) paths.add(`${folder}/${name}`);
  }
  return paths;
}

const TEMPLATE_FILE = /\.(?:ya?ml|json)$/;

/** Path of a template in a mapping. */
export function templatePath({ folder }: Mapped, template: string): string {
  return `${folder}/catalog-templates/${template}`;
}

/** The blobs of a basic template; undefined for any other file. */
export async function templateAt(
  { objects }: CheckScene,
  tree: string,
  path: string,
): Promise<Blobs | undefined> {
  const file = await entryAt(objects, tree, path);
  if (!file || whyUnreadable(file.mode) !== undefined) return undefined;
  if (((await objects.info(file.id))?.size ?? 0) > FILE_BYTES) return undefined;
  const { bytes } = await objects.read(file.id, FILE_BYTES);
  // Any changed file may be a template: few are parsed.
  if (!bytes.includes(BASIC_SCHEMA)) return undefined;
  try {
    return writtenInBasic({ file: path, bytes }, []);
  } catch (error) {
    // The reader of templates reports files that are not templates.
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

/** The blobs of one package in a unit. */
async function contentOf(
  { objects, reader }: TemplateScene,
  { tree, name }: Pick<PlacedTemplate, 'tree' | 'name'>,
  unit: CatalogUnit,
): Promise<Blobs> {
  const { packages } = await readContent(reader, await loadedFiles(objects, tree, unit));
  return packages.get(name) ?? emptyContent();
}

interface Difference {
  readonly text: string;
  /** In the template, where that has what the catalog lacks. */
  readonly location?: Location;
}

/** The first difference between a catalog and its rendered template. */
export function differenceOf(template: Blobs, catalog: Blobs): Difference | undefined {
  const [want, have] = [template, catalog].map(({ packages }) => packages[0]?.defaultChannel);
  if (want !== undefined && have !== undefined && want !== have)
    return { text: `the default channel is ${quoted(want)} in the template, ${quoted(have)} in the catalog` };
  for (const channel of template.channels) {
    const other = catalog.channels.find(({ name }) => name === channel.name);
    if (!other)
      return { text: `channel ${quoted(channel.name)} is only in the template`, location: locate(channel) };
    const difference = entryDifference(channel, other);
    if (difference) return difference;
  }
  const more = catalog.channels.find(
    ({ name }) => !template.channels.some((channel) => channel.name === name),
  );
  if (more) return { text: `channel ${quoted(more.name)} is only in the catalog` };
  return bundleDifference(template, catalog);
}

/** The first difference between a channel in a template and in its catalog. */
function entryDifference(template: Channel, catalog: Channel): Difference | undefined {
  const where = `in channel ${quoted(template.name)}`;
  for (const entry of template.entries) {
    const location = locate(template, 'entries', entry.index);
    const other = catalog.entries.find(({ name }) => name === entry.name);
    if (!other) return { text: `the entry ${quoted(entry.name)} ${where} is only in the template`, location };
    const edges = [entry, other].map(({ replaces, skips, skipRange }) =>
      JSON.stringify([replaces, [...skips].sort(compareText), skipRange]),
    );
    if (edges[0] !== edges[1])
      return { text: `the entry ${quoted(entry.name)} ${where} has different upgrade edges`, location };
  }
  const more = catalog.entries.find(({ name }) => !template.entries.some((entry) => entry.name === name));
  return more && { text: `the entry ${quoted(more.name)} ${where} is only in the catalog` };
}

/** The first bundle that only one of them has. They are compared by image: a template need not name its bundles. */
function bundleDifference(template: Blobs, catalog: Blobs): Difference | undefined {
  const [want, have] = [template, catalog].map(({ bundles }) => new Set(bundles.map(({ image }) => image)));
  const lacking = template.bundles.find(({ image }) => image !== '' && !have?.has(image));
  if (lacking)
    return { text: `the bundle ${quoted(lacking.image)} is only in the template`, location: locate(lacking) };
  const more = catalog.bundles.find(({ image }) => !want?.has(image));
  return more && { text: `the bundle ${quoted(more.image)} is only in the catalog` };
}
