/**
 * All packages of a catalog for a new version of the platform: each package's files in the next catalog, the next
 * catalog's name in its `ci.yaml`, and what becomes of clusters. Each package's own `ci.yaml` says whether it may go.
 *
 * @see https://github.com/redhat-openshift-ecosystem/operator-pipelines/blob/main/docs/fbc-catalog-promotion.md
 */
import { compareFindings, type Finding } from '../../../catalog/finding.ts';
import { isObject } from '../../../catalog/go/shape.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { ownSeverity, runForesight } from '../../../catalog/rules/rule.ts';
import type { SourceFile } from '../../../catalog/source.ts';
import { readCatalogs } from '../../catalogs/read-catalogs.ts';
import { type CatalogUnit, catalogUnits } from '../../change/unit.ts';
import { PipelineError } from '../../error.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { sourceFile, whyUnreadable } from '../../git/source.ts';
import { entryAt, filesBelow, type ListedFile, type TreeFile } from '../../git/tree.ts';
import { formatIdentity } from '../../policy/identity.ts';
import { isCatalogName } from '../../policy/layout.ts';
import { ownersReader } from '../../policy/owners/owners.ts';
import type { Policy } from '../../policy/policy.ts';
import { readStrictSettings, type Settings } from '../../settings.ts';
import { worldsOf } from '../audit.ts';
import { ciPath } from '../content/template-mapping.ts';

interface PromotionRequest {
  /** Id of a commit that has been brought. */
  readonly commit: string;
  readonly policy: Policy;
  /** Names of catalogs, such as `v4.21` and `v4.22`. */
  readonly from: string;
  readonly to: string;
  /** The day of the check, `YYYY-MM-DD`. */
  readonly today: string;
}

export interface Promotions {
  readonly promoted: readonly Promotion[];
  readonly skipped: readonly { readonly package: string; readonly why: string }[];
  /** What is news for clusters of both catalogs, the worst first; each is about one package. */
  readonly findings: readonly Finding[];
}

export interface Promotion {
  readonly package: string;
  /** Whether its owners want to review it, as operator-pipelines has it. */
  readonly strategy: 'always' | 'review-needed';
  /** Who owns it, in order. */
  readonly owners: readonly string[];
  /** What is to stand at paths: files as they are in the other catalog, or new bytes. */
  readonly files: ReadonlyMap<string, TreeFile | Uint8Array>;
}

/**
 * The packages to add to the next catalog, and those that are skipped. A package that the next catalog has already is in
 * neither list.
 *
 * @throws PipelineError `usage` for a catalog that the repository does not have, or that is promoted to itself, and for a
 *   file of several packages: what is skipped is listed by package, and such a file must not be left out unlisted
 */
export async function promotionsOf(objects: ObjectReader, request: PromotionRequest): Promise<Promotions> {
  const { commit, policy, from, to } = request;
  if (!isCatalogName(to) || to === from)
    throw new PipelineError('usage', `${JSON.stringify(to)} is not the name of another catalog`);
  const units = [...(await catalogUnits(objects, commit, policy.layout)).values()];
  const source = units.filter(({ catalog }) => catalog === from);
  if (source.length === 0) throw unknownCatalog(from, units);
  const present = new Set(
    units.flatMap(({ catalog, package: name }) => (catalog === to && name ? [name] : [])),
  );
  const owners = ownersReader(objects, commit, policy);
  const promoted: Promotion[] = [];
  const skipped: { package: string; why: string }[] = [];
  for (const unit of source.sort((a, b) => compareText(a.path, b.path))) {
    const { package: name, path } = unit;
    if (name === undefined)
      throw new PipelineError('usage', `${path} holds several packages: promote them one by one`);
    if (present.has(name)) continue;
    const settings = await ciOf(objects, request, name);
    const strategy = strategyOf(settings);
    const files = await filesOf(objects, { unit, request, settings });
    const why = unit.composed
      ? 'its catalogs are built from bundle directories'
      : (whyNotByStrategy(strategy) ?? whyNotByFiles(files));
    if (why !== undefined) skipped.push({ package: name, why });
    else {
      const { identities } = await owners.ownersOf(name, [...files.keys()]);
      const names = [...new Set(identities.map(formatIdentity))].sort(compareText);
      promoted.push({
        package: name,
        strategy: strategy === 'always' ? 'always' : 'review-needed',
        owners: names,
        files,
      });
    }
  }
  const findings = promoted.length === 0 ? [] : await newsOf(objects, { request, units, promoted });
  return { promoted, skipped, findings };
}

function unknownCatalog(name: string, units: readonly CatalogUnit[]): PipelineError {
  const names = [...new Set(units.map(({ catalog }) => catalog))].sort(compareText);
  return new PipelineError('usage', `the repository has no catalog ${JSON.stringify(name)}`, {
    hint: `it has ${names.join(', ')}`,
  });
}

/** `ci.yaml` of a package. */
interface Ci {
  readonly path: string;
  readonly text: string;
  readonly settings: Settings | undefined;
}

/** Largest `ci.yaml`, in bytes. */
const CI_BYTES = 1024 * 1024;

/** The ci.yaml of a package, if it has one. */
async function ciOf(
  objects: ObjectReader,
  { commit, policy }: PromotionRequest,
  name: string,
): Promise<Ci | undefined> {
  const path = ciPath(policy, name);
  const entry = await entryAt(objects, commit, path);
  if (!entry || whyUnreadable(entry.mode) !== undefined) return undefined;
  const { bytes } = await objects.read(entry.id, CI_BYTES);
  return { path, text: bytes.toString('utf8'), settings: readStrictSettings(path, bytes).settings };
}

/** The section `fbc` of a `ci.yaml`; empty where there is none. */
function fbcIn(ci: Ci | undefined): Readonly<Record<string, unknown>> {
  const { value } = ci?.settings ?? {};
  return isObject(value) && isObject(value['fbc']) ? value['fbc'] : {};
}

/** `always`, `never`, `review-needed`, or what else is written; `unreadable` for a file that is not YAML. */
function strategyOf(ci: Ci | undefined): string {
  if (ci && !ci.settings) return 'unreadable';
  const written = fbcIn(ci)['version_promotion_strategy'];
  return written === undefined ? 'review-needed' : String(written);
}

/** Why a package's owners do not let it be promoted; undefined if they do. */
function whyNotByStrategy(strategy: string): string | undefined {
  if (strategy === 'always' || strategy === 'review-needed') return undefined;
  if (strategy === 'never') return 'its version_promotion_strategy is never';
  if (strategy === 'unreadable') return 'its ci.yaml is not valid YAML';
  return `its version_promotion_strategy is ${JSON.stringify(strategy)}, expected always, never or review-needed`;
}

/** Why a package's files cannot be copied, such as a link among them; undefined if they can. */
function whyNotByFiles(files: Promotion['files']): string | undefined {
  const odd = [...files].find(
    ([, content]) => !(content instanceof Uint8Array) && whyUnreadable(content.mode) !== undefined,
  );
  return odd && `${odd[0]} would be ${whyUnreadable((odd[1] as TreeFile).mode)}`;
}

interface UnitFiles {
  readonly unit: CatalogUnit;
  readonly request: PromotionRequest;
  readonly settings: Ci | undefined;
}

/**
 * The package's files at their paths in the next catalog, and its ci.yaml with the template mapped there too. None of a
 * package that is composed: each catalog makes it from bundle directories, and says itself which ones it takes.
 */
async function filesOf(
  objects: ObjectReader,
  { unit, request, settings }: UnitFiles,
): Promise<Map<string, TreeFile | Uint8Array>> {
  const { from, to } = request;
  const files = new Map<string, TreeFile | Uint8Array>();
  if (unit.composed) return files;
  for (const { path, mode, id } of await filesBelow(objects, unit))
    files.set(pathIn(path, from, to), { mode, id });
  const mapped = settings && mappedText(settings, from, to);
  if (settings && mapped !== undefined) files.set(settings.path, new TextEncoder().encode(mapped));
  return files;
}

/** A path of one catalog in another. @throws PipelineError `usage` where the path does not name the catalog */
function pathIn(path: string, from: string, to: string): string {
  const parts = path.split('/');
  const at = parts.indexOf(from);
  if (at < 0) {
    throw new PipelineError('usage', `${path} is not in a folder named ${from}`, {
      hint: 'promote packages one by one: portolan promote PACKAGE --from DIR --to DIR',
    });
  }
  return [...parts.slice(0, at), to, ...parts.slice(at + 1)].join('/');
}

/** The text of `ci.yaml` with the new catalog behind the old one; undefined where there is nothing to add. */
function mappedText({ text, settings }: Ci, from: string, to: string): string | undefined {
  const fbc = isObject(settings?.value) ? settings.value['fbc'] : undefined;
  const mappings = isObject(fbc) && Array.isArray(fbc['catalog_mapping']) ? fbc['catalog_mapping'] : [];
  const named = mappings.map((one): string[] =>
    isObject(one) && Array.isArray(one['catalog_names']) ? one['catalog_names'].map(String) : [],
  );
  if (named.some((names) => names.includes(to))) return undefined;
  const i = named.findIndex((names) => names.includes(from));
  const at = named[i]?.indexOf(from);
  if (at === undefined) return undefined;
  const place = settings?.locate(['fbc', 'catalog_mapping', i, 'catalog_names', at]);
  return place && textWith(text, place, { from, to });
}

/**
 * A text with the item `to` behind `from`, which stands at a place of a list in block or flow style. It has the same quotes and
 * indentation; undefined where the place does not have `from`, as behind an anchor.
 */
function textWith(
  text: string,
  { line, column }: { readonly line: number; readonly column: number },
  { from, to }: { readonly from: string; readonly to: string },
): string | undefined {
  const lines = text.split('\n');
  const own = lines[line - 1] ?? '';
  const before = own.slice(0, column - 1);
  const [scalar = ''] = /^(?:"[^"]*"|'[^']*'|[^\s,\]#]+)/.exec(own.slice(column - 1)) ?? [];
  if (!scalar.includes(from)) return undefined;
  const added = scalar.replace(from, () => to);
  const end = own.endsWith('\r') ? '\r' : '';
  const isBlock = /^\s*(?:-\s+)+$/.test(before);
  // In `- - name`, only the last dash belongs to the item.
  if (isBlock)
    lines.splice(line, 0, `${before.replace(/-\s+(?=-)/g, (dash) => ' '.repeat(dash.length))}${added}${end}`);
  else lines[line - 1] = `${before}${scalar}, ${added}${own.slice(before.length + scalar.length)}`;
  return lines.join('\n');
}

interface News {
  readonly request: PromotionRequest;
  readonly units: readonly CatalogUnit[];
  readonly promoted: readonly Promotion[];
}

/**
 * What foresight finds in both catalogs with the promoted packages, and did not find without them: clusters of the first one
 * come to the second with the platform.
 */
async function newsOf(objects: ObjectReader, { request, units, promoted }: News): Promise<Finding[]> {
  const { from, to, today } = request;
  const listed = async (catalog: string): Promise<ListedFile[]> =>
    (
      await Promise.all(
        units
          .filter((unit) => unit.catalog === catalog && !unit.composed)
          .map((unit) => filesBelow(objects, unit)),
      )
    ).flat();
  const [source, target] = await Promise.all([listed(from), listed(to)]);
  if (objects.isRemote) await objects.prefetch([...source, ...target].map(({ id }) => id));
  const added = promoted.flatMap(({ files }) =>
    [...files].flatMap(([path, content]) => (content instanceof Uint8Array ? [] : [{ path, ...content }])),
  );
  const packages = new Set(promoted.map(({ package: name }) => name));
  const findingsWith = async (next: readonly ListedFile[]): Promise<Finding[]> => {
    const places = [
      { name: from, files: source },
      { name: to, files: next },
    ].map(({ name, files }) => ({ name, prefix: '', source: { files: async () => files.map(asSource) } }));
    const catalogs = await readCatalogs(places, request.policy.limits.entries);
    const worlds = await worldsOf({ catalogs, olm: ['v0', 'v1'], today, packages });
    return worlds.flatMap((world) => runForesight(world, RULES, ownSeverity));
  };
  const asSource = (file: ListedFile): SourceFile => sourceFile(objects, file);
  const before = new Set((await findingsWith(target)).map(causeKey));
  const after = await findingsWith([...target, ...added]);
  const news = new Map(
    after.filter((finding) => !before.has(causeKey(finding))).map((finding) => [causeKey(finding), finding]),
  );
  return [...news.values()].sort(compareFindings);
}

/** Equal for two findings that say the same, whatever line they stand on. */
function causeKey({ rule, package: name = '', channel = '', message }: Finding): string {
  return JSON.stringify([rule, name, channel, message]);
}
