/**
 * Catalogs and the templates that they are rendered from, side by side in one repository: whoever changes one
 * and forgets the other has published something that the next rendering takes away. Nothing is rendered here:
 * a basic template says its channels and the images of its bundles itself.
 */

import { dirname } from 'node:path/posix';
import type { Blobs } from '../../../catalog/fbc/model.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { groupedBy } from '../../../catalog/go/grouped.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { shellWord } from '../../../catalog/names.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { isWithin } from '../../change/catalogs.ts';
import { loadedFiles } from '../../change/content.ts';
import { type CatalogUnit, catalogUnits } from '../../change/unit.ts';
import { entryAt } from '../../git/tree.ts';
import type { PathKind } from '../../policy/layout.ts';
import { severitiesOf } from '../../policy/severity.ts';
import type { CheckScene } from '../world/scene.ts';
import type { CatalogResult } from './catalog-rules.ts';
import { type Difference, differenceOf } from './template-difference.ts';
import { mappingFindings, type PlacedMapping, templatePath } from './template-mapping.ts';
import {
  isTemplateFile,
  TEMPLATE_FILE,
  type TemplateScene,
  templateAt,
  templateScene,
} from './template-scene.ts';

/** Findings of the packages that a pull request changes; what the base branch has as well is known. */
export async function checkTemplates(read: Parameters<typeof templateScene>[0]): Promise<CatalogResult[]> {
  const scene = templateScene(read);
  const { base, merged } = scene.trees;
  const changed = [...scene.change.packages.values()].filter(({ kinds }) => !isAside(kinds));
  const names = changed.map(({ name }) => name);
  // The same difference may be known in one catalog, and new in another: what is compared is of one catalog.
  const keyOf = ({ message, catalogs }: Finding): string => JSON.stringify([message, catalogs]);
  const old = new Set((await driftIn(scene, base, names)).map(keyOf));
  const after = await driftIn(scene, merged, names);
  const isNew = (finding: Finding): boolean => !old.has(keyOf(finding));
  const known = after.filter((one) => !isNew(one));
  const added = [
    ...after.filter(isNew),
    ...(await unmappedFindings(scene, names)),
    ...(await besideFindings(scene)),
  ];
  const result = (list: readonly Finding[]): Finding[] => underPolicy(scene, grouped(list));
  return [{ findings: result(added), known: result(known), diffs: [] }];
}

/** Findings without repetitions: equal ones of several catalogs are one finding. */
function grouped(findings: readonly Finding[]): Finding[] {
  const found = new Map<string, Finding>();
  for (const finding of findings) {
    const known = found.get(finding.message);
    const catalogs = new Set([...(known?.catalogs ?? []), ...(finding.catalogs ?? [])]);
    const named = catalogs.size === 0 ? {} : { catalogs: [...catalogs].sort(compareText) };
    found.set(finding.message, { ...finding, ...named });
  }
  return [...found.values()];
}

/** Whether only bundles and images change, of which nothing is rendered yet. */
function isAside(kinds: ReadonlySet<PathKind>): boolean {
  return kinds.size > 0 && [...kinds].every((kind) => kind === 'bundle' || kind === 'composite');
}

/** Findings about packages whose templates and catalogs differ, in one tree. */
async function driftIn(scene: TemplateScene, tree: string, names: readonly string[]): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const name of names) {
    const mapped = await scene.mapping(tree, name);
    if (!mapped) continue;
    const own = await scene.units(tree, name);
    found.push(
      ...(await mappingFindings(scene.objects, { ...mapped, tree }, own)),
      ...(await templateFindings(scene, { ...mapped, tree }, own)),
    );
  }
  return found;
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

/** Findings about basic templates that differ from a catalog rendered from them. */
async function templateFindings(
  scene: TemplateScene,
  placed: PlacedMapping,
  units: readonly CatalogUnit[],
): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { path, blobs, catalogs } of await basicTemplates(scene, placed)) {
    for (const unit of units.filter(({ catalog }) => catalogs.has(catalog))) {
      const difference = differenceOf(blobs, await scene.content(placed.tree, placed.name, unit));
      if (difference) found.push(driftFinding(difference, { path, unit, name: placed.name }));
    }
  }
  return found;
}

interface MappedTemplate {
  readonly path: string;
  readonly blobs: Blobs;
  /** Names of the catalogs that are rendered from it. */
  readonly catalogs: ReadonlySet<string>;
}

/** The basic templates of a mapping. Their files decide: a mapping with another type would keep them from being compared. */
async function basicTemplates(scene: TemplateScene, placed: PlacedMapping): Promise<MappedTemplate[]> {
  const found: MappedTemplate[] = [];
  // A mapping may name a template many times.
  for (const [template, mappings] of groupedBy(placed.mappings, (mapping) => mapping.template)) {
    const path = templatePath(placed, template);
    const blobs = await templateAt(scene, placed.tree, path);
    const catalogs = new Set(mappings.flatMap((mapping) => mapping.catalogs.map(({ name }) => name)));
    if (blobs) found.push({ path, blobs, catalogs });
  }
  return found;
}

/**
 * Findings about catalogs that were the same as their mapped template on the base branch, and that the pull request maps to none.
 * Otherwise one pull request could take the mapping away, and change what is rendered.
 */
async function unmappedFindings(scene: TemplateScene, names: readonly string[]): Promise<Finding[]> {
  const { base, merged } = scene.trees;
  const found: Finding[] = [];
  for (const name of names) {
    const before = await scene.mapping(base, name);
    if (!before) continue;
    const after = await scene.mapping(merged, name);
    const templates = after ? await basicTemplates(scene, { ...after, tree: merged }) : [];
    const kept = new Set(templates.flatMap((one) => [...one.catalogs]));
    const unmapped = (await scene.units(base, name)).filter(({ catalog }) => !kept.has(catalog));
    for (const { path, blobs, catalogs } of await basicTemplates(scene, { ...before, tree: base })) {
      const lost = unmapped.filter(({ catalog }) => catalogs.has(catalog));
      const rendered = await renderedFrom(scene, lost, { was: blobs, name });
      found.push(...(await sinceBase(scene, rendered, { was: blobs, path, name })));
    }
  }
  return found;
}

/**
 * Findings about catalogs that were the same as a template on the base branch, and that neither the template nor one to
 * which it may have been moved gives after the merge. A catalog that is gone has none.
 */
async function sinceBase(
  scene: TemplateScene,
  units: readonly CatalogUnit[],
  { was, path, name }: BaseTemplate & { readonly path: string },
): Promise<Finding[]> {
  const { merged } = scene.trees;
  const found: Finding[] = [];
  if (units.length === 0) return found;
  const is = await templateAt(scene, merged, path);
  const after = [...(await scene.units(merged, name)), ...(await scene.units(merged, undefined))];
  for (const { path: place, catalog } of units) {
    const isSame = (one: CatalogUnit): boolean => one.catalog === catalog && !one.composed;
    const unit = after.find((one) => one.path === place) ?? after.find(isSame);
    if (!unit) continue;
    const content = await scene.content(merged, name, unit);
    const difference = differenceOf(is ?? was, content);
    if (!difference) continue;
    const pair = { path, unit, name };
    if (is) found.push(driftFinding(difference, pair));
    else if (!(await scene.gives(content))) found.push(await lostFinding(scene, pair, difference));
  }
  return found;
}

interface Pair {
  /** Path of the template. */
  readonly path: string;
  readonly unit: CatalogUnit;
  /** Name of the package. */
  readonly name: string;
}

/** The finding that a template is gone from which a catalog was rendered. */
async function lostFinding(
  { objects, trees }: TemplateScene,
  { path, unit, name }: Pair,
  difference: Difference,
): Promise<Finding> {
  // An outline does not know in which file it was read.
  const [file = unit] = await loadedFiles(objects, trees.merged, unit);
  return {
    ...driftFinding(difference, { path, unit, name }),
    message: `${path} no longer exists as a basic template, and no other one gives its rendered catalog: ${difference.text}`,
    location: { file: file.path, line: 1, column: 1 },
    hint: `restore ${path}, or check that what replaces it gives the same catalog`,
  };
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
  const { base } = scene.trees;
  const units = [...(await catalogUnits(scene.objects, base, scene.policy.layout)).values()].filter(
    ({ composed }) => !composed,
  );
  const shared = await scene.units(base, undefined);
  const changesInCatalogs = (name: string): boolean =>
    [...scene.change.contents.values()].some((names) => names.has(name));
  const found: Finding[] = [];
  for (const path of await templatesBeside(scene, units)) {
    const was = await templateAt(scene, base, path);
    const name = was?.packages[0]?.name;
    // Nothing on the base branch could be rendered from a new template.
    if (!was || name === undefined) continue;
    const all = [...(await scene.units(base, name)), ...shared].filter(({ composed }) => !composed);
    const inFolder = all.filter((unit) => isWithin(unit.root, dirname(path)));
    const rendered = await renderedFrom(scene, inFolder.length === 1 ? inFolder : all, { was, name });
    // A template for several catalogs may be rendered later: but not where other catalogs of the package get what is new.
    if (rendered.length !== 1 && !changesInCatalogs(name)) continue;
    found.push(...(await sinceBase(scene, rendered, { was, path, name })));
  }
  return found;
}

/** Catalogs that are the same as a template on the base branch. */
async function renderedFrom(
  scene: TemplateScene,
  units: readonly CatalogUnit[],
  { was, name }: BaseTemplate,
): Promise<CatalogUnit[]> {
  const found: CatalogUnit[] = [];
  for (const unit of units)
    if (!differenceOf(was, await scene.content(scene.trees.base, name, unit))) found.push(unit);
  return found;
}

interface BaseTemplate {
  /** The template on the base branch. */
  readonly was: Blobs;
  /** Name of the package. */
  readonly name: string;
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
  const own = change.paths.filter(isTemplateFile);
  const paths = new Set<string>();
  for (const { path, package: name } of own) {
    // What ci.yaml maps is compared by that.
    const isMapped = async (): Promise<boolean> =>
      name !== undefined && (await scene.mapping(trees.merged, name)) !== undefined;
    if (hasOneCatalog(dirname(path)) || (hasCatalog && !(await isMapped()))) paths.add(path);
  }
  for (const folder of folders) {
    const entry = await entryAt(objects, trees.base, folder);
    for (const { name } of entry ? await objects.tree(entry.id) : [])
      if (TEMPLATE_FILE.test(name)) paths.add(`${folder}/${name}`);
  }
  return paths;
}
