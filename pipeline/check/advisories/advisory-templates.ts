/**
 * Templates that the catalogs of an advisory are rendered from: the next rendering would undo an edit that only the
 * catalogs have. Portolan edits a basic template if that gives exactly the edited catalogs; any other is a finding.
 */

import { load } from '../../../catalog/fbc/load.ts';
import { type Blobs, catalogOf, NO_BLOBS } from '../../../catalog/fbc/model.ts';
import { compareMinors, minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { shellWord } from '../../../catalog/names.ts';
import { editedBasic } from '../../../catalog/opm/template/advisory.ts';
import { BASIC_SCHEMA, writtenInBasic } from '../../../catalog/opm/template/basic.ts';
import { templateKind } from '../../../catalog/opm/template/kinds.ts';
import { readSemver, SEMVER_SCHEMA } from '../../../catalog/opm/template/semver-read.ts';
import { TemplateError, type TemplateText } from '../../../catalog/opm/template/template.ts';
import { quoted } from '../../../catalog/rules/rule.ts';
import { sourceOf } from '../../../catalog/source.ts';
import type { Repository } from '../../git/repository.ts';
import { whyUnreadable } from '../../git/source.ts';
import { isTree, joinPath, type ListedFile } from '../../git/tree.ts';
import { differenceOf } from '../content/template-difference.ts';
import { type Mapped, mappingOf, templatePath } from '../content/template-mapping.ts';
import { type AdvisoryRequest, type CatalogPlan, concernedCatalogs } from './advisories.ts';

/** The effect of an advisory on a template. */
export interface TemplatePlan {
  readonly path: string;
  /** For example `olm.template.basic`. */
  readonly schema: string;
  /** The catalogs that are rendered from it, in the order of names. */
  readonly catalogs: readonly string[];
  /** Its new content; undefined if Portolan does not edit it. */
  readonly text: string | undefined;
  /** Why Portolan does not edit it, and the fix; undefined beside a text. */
  readonly finding: Finding | undefined;
}

type Objects = Repository['objects'];

/**
 * Plans the templates of the catalogs that an advisory edits.
 *
 * @throws PipelineError `not-found` when the clone lacks objects
 */
export async function templatePlans(
  { objects }: Pick<Repository, 'objects'>,
  request: AdvisoryRequest,
  plans: readonly CatalogPlan[],
): Promise<TemplatePlan[]> {
  const edited = plans.filter(({ plan, files }) => plan.kind === 'edit' && files.size > 0);
  if (edited.length === 0) return [];
  const states = await statesOf(objects, request, edited);
  const { commit, tree = commit, policy, advisory } = request;
  const mapped = await mappingOf({ objects, policy }, tree, advisory.package);
  const found: TemplatePlan[] = [];
  for (const template of await templatesIn(objects, request)) {
    const rendered = statesFrom(template, states, { mapped, name: advisory.package });
    if (rendered.some(({ plan }) => plan)) found.push(planTemplate(template, rendered));
  }
  return found;
}

/** The package of an advisory in one catalog, before and after. */
interface State {
  readonly catalog: string;
  readonly before: Blobs;
  readonly after: Blobs;
  /** Undefined where the advisory edits nothing that a template renders. */
  readonly plan: CatalogPlan | undefined;
  /** The file that has the channels. */
  readonly file: string;
}

/** For each catalog that may be rendered from a template: the package before and after the advisory's edit. */
async function statesOf(
  objects: Objects,
  request: AdvisoryRequest,
  plans: readonly CatalogPlan[],
): Promise<State[]> {
  const { advisory, policy } = request;
  // A template may render catalogs that the advisory leaves out.
  const everywhere = { ...request, advisory: { ...advisory, catalogs: ['*'] } };
  const { names, textsOf } = await concernedCatalogs({ objects }, everywhere);
  const blobsOf = async (texts: ReadonlyMap<string, string>): Promise<Blobs> => {
    const { blobs } = await load(sourceOf(Object.fromEntries(texts)), policy.limits);
    return ofPackage(blobs, advisory.package);
  };
  const states: State[] = [];
  for (const catalog of names) {
    const { texts } = await textsOf(catalog);
    const before = await blobsOf(texts);
    const file = before.channels[0]?.document.file ?? '';
    const plan = plans.find((one) => one.catalog === catalog && one.files.has(file));
    const changed = new Map(texts);
    for (const [path, text] of plan?.files ?? []) {
      if (text === undefined) changed.delete(path);
      else changed.set(path, text);
    }
    states.push({ catalog, before, after: plan ? await blobsOf(changed) : before, plan, file });
  }
  return states;
}

/** The blobs of one package. */
function ofPackage({ packages, channels, bundles, deprecations }: Blobs, name: string): Blobs {
  const own = <T extends { readonly package: string }>(list: readonly T[]): T[] =>
    list.filter((one) => one.package === name);
  return {
    packages: packages.filter((one) => one.name === name),
    channels: own(channels),
    bundles: own(bundles),
    deprecations: own(deprecations),
    others: [],
  };
}

interface Template extends TemplateText {
  readonly schema: string;
  /** The blobs that stand in it. */
  readonly blobs: Blobs;
  /** The images of a semver template. */
  readonly images: readonly string[];
}

/** Folders that hold nothing of a catalog, or what belongs to tests and other programs. */
const SKIPPED = /^(?:\.git|\.github|\.tekton|node_modules|vendor|testdata|tests?|e2e)$/;
const FORMAT = /\.(?:ya?ml|json)$/i;

/**
 * The templates outside of catalogs and of other packages' folders. Whether one is about the advisory's
 * package is decided later, when it is compared with the catalogs.
 */
async function templatesIn(objects: Objects, request: AdvisoryRequest): Promise<Template[]> {
  const files = await filesAside(objects, request);
  await objects.prefetch(files.map(({ id }) => id));
  const found: Template[] = [];
  for (const { path, id } of files) {
    const { bytes } = await objects.read(id, request.policy.limits.fileBytes);
    // Only what has a schema of templates in it is parsed.
    if (!bytes.includes('olm.template.') && !bytes.includes(SEMVER_SCHEMA)) continue;
    const template = readTemplate({ file: path, bytes });
    if (template) found.push(template);
  }
  return found.sort((a, b) => compareText(a.file, b.file));
}

/** The files outside of catalogs and bundles that may be templates of the advisory's package. */
async function filesAside(
  objects: Objects,
  { commit, tree = commit, policy: { layout }, advisory }: AdvisoryRequest,
): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  const folders = [{ path: '', id: tree }];
  for (let folder = folders.pop(); folder; folder = folders.pop()) {
    for (const { name, mode, id } of await objects.tree(folder.id)) {
      const path = joinPath(folder.path, name);
      const kind = layout.match(path)?.kind;
      const isOthers = (layout.packageAt(path) ?? advisory.package) !== advisory.package;
      if (kind === 'catalog' || kind === 'bundle' || isOthers) continue;
      if (isTree(mode) && !SKIPPED.test(name)) folders.push({ path, id });
      else if (FORMAT.test(name) && whyUnreadable(mode) === undefined) files.push({ path, mode, id });
    }
  }
  return files;
}

/** The blobs and images of a template; undefined for a file that is not a template, or that opm cannot read as one. */
function readTemplate(text: TemplateText): Template | undefined {
  const kind = templateKind(text);
  if (!kind) return undefined;
  try {
    const isSemver = kind.schema === SEMVER_SCHEMA;
    const images = isSemver ? Object.values(readSemver(text).images).flat() : [];
    return { ...text, schema: kind.schema, blobs: isSemver ? NO_BLOBS : kind.written(text, []), images };
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}

/**
 * The catalogs that are rendered from a template: those that `ci.yaml` maps to it. Without a mapping, those
 * with the same content; if none has it, all that the template could be for, so that none is missed.
 */
function statesFrom(
  template: Template,
  states: readonly State[],
  { mapped, name }: { readonly mapped: Mapped | undefined; readonly name: string },
): State[] {
  const named = mapped?.mappings.filter((one) => templatePath(mapped, one.template) === template.file);
  if (named && named.length > 0) {
    const names = new Set(named.flatMap(({ catalogs }) => catalogs.map((one) => one.name)));
    return states.filter(({ catalog }) => names.has(catalog));
  }
  // A semver template lists images only. Its channels are made when it is rendered.
  const isOfPackage =
    template.schema === SEMVER_SCHEMA
      ? ({ before }: State) => before.bundles.some(({ image }) => template.images.includes(image))
      : () => template.blobs.channels.some((channel) => channel.package === name);
  const near = states.filter((state) => isOfPackage(state) && mayRender(template.file, state.catalog));
  const same = near.filter(({ before }) => differenceText(template.blobs, before) === undefined);
  return same.length > 0 ? same : near;
}

/**
 * Whether a template may be for a catalog by the version of the platform in its path: none, or the catalog's. A catalog without
 * a version may have any template.
 */
function mayRender(path: string, catalog: string): boolean {
  const names = path.replace(FORMAT, '').split('/');
  const minors = names.flatMap((name) => minorOfCatalog(name) ?? []);
  const own = minorOfCatalog(catalog);
  return !own || minors.length === 0 || minors.some((minor) => compareMinors(minor, own) === 0);
}

/** The edit of a template, or the finding that it would undo the edit of its catalogs. */
function planTemplate(template: Template, states: readonly State[]): TemplatePlan {
  const { file: path, schema } = template;
  const catalogs = states.map(({ catalog }) => catalog);
  const { text, why } = schema === BASIC_SCHEMA ? editOf(template, states) : uneditedTemplate(schema);
  const finding = text === undefined ? findingOf(template, states, why) : undefined;
  return { path, schema, catalogs, text, finding };
}

interface Edited {
  readonly text?: string;
  readonly why?: string;
}

/** Why a template that is not basic is not edited; no reason where its schema, which the finding names, says it. */
function uneditedTemplate(schema: string): Edited {
  return schema === SEMVER_SCHEMA ? { why: 'a semver template cannot have these edges' } : {};
}

/** The edit of a basic template, or why it cannot be made. */
function editOf(template: Template, states: readonly State[]): Edited {
  for (const { catalog, before } of states) {
    const difference = differenceText(template.blobs, before);
    if (difference !== undefined) return { why: `it differs from catalog ${quoted(catalog)}: ${difference}` };
  }
  const first = states.find(({ plan }) => plan);
  const [name = ''] = first?.before.packages.map((one) => one.name) ?? [];
  const own = first && catalogOf(first.before).packages.get(name);
  const edit = first?.plan?.plan.kind === 'edit' ? first.plan.plan.edit : undefined;
  if (!own || !edit) return {};
  if (first.after.channels.length === 0) return { why: 'no version is left' };
  const text = editedBasic(template, own, edit);
  if (text === undefined) return {};
  const after = writtenInBasic({ file: template.file, bytes: new TextEncoder().encode(text) }, []);
  // One template for several catalogs has one edit: it must give each of them.
  for (const state of states)
    if (differenceText(after, state.after) !== undefined)
      return { why: `catalog ${quoted(state.catalog)} needs another edit than ${quoted(first.catalog)}` };
  return { text };
}

/** What differs between the blobs of a basic template and those of a catalog; undefined where they say the same. */
function differenceText(wanted: Blobs, is: Blobs): string | undefined {
  const difference = differenceOf(wanted, is);
  if (difference) return difference.text;
  const messages = ({ deprecations }: Blobs): string =>
    JSON.stringify(
      deprecations
        .flatMap(({ entries }) => entries.map(({ schema, name, message }) => `${schema} ${name} ${message}`))
        .sort(compareText),
    );
  return messages(wanted) === messages(is) ? undefined : 'the deprecations';
}

/** The finding about a template that would undo the edit. @param why Portolan does not edit it */
function findingOf({ file, schema }: Template, states: readonly State[], why: string | undefined): Finding {
  const changed = states.filter(({ plan }) => plan);
  const names = changed.map(({ catalog }) => catalog).join(', ');
  const [first] = changed;
  // A semver template cannot have the edges of the edited catalog: a basic one can.
  const kind = schema === SEMVER_SCHEMA ? 'basic' : schema.replace('olm.template.', '');
  const hint =
    first?.after.channels.length === 0
      ? `remove ${file}, and its mapping to ${names}`
      : `portolan opm alpha convert-template ${kind} -o yaml ${shellWord(first?.file ?? '')} > FILE, and render ${names} from FILE`;
  const reason = why === undefined ? '' : `; Portolan does not edit it, because ${why}`;
  return {
    rule: 'advisory/template',
    severity: 'warning',
    message: `${names} ${changed.length === 1 ? 'is' : 'are'} rendered from this template (${schema}), which undoes the edit when it is rendered again${reason}`,
    location: { file, line: 1, column: 1 },
    hint,
  };
}
