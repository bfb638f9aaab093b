/**
 * What advisories change in the catalogs of a repository. The edit is made in the text of the files, and the edited
 * text is read and proved once more before anybody gets to see it.
 */
import { applyEdit } from '../../../catalog/edit/advisory.ts';
import { type FileText, fileText, joinedText } from '../../../catalog/edit/file.ts';
import { load } from '../../../catalog/fbc/load.ts';
import { type Blobs, catalogOf, type Package } from '../../../catalog/fbc/model.ts';
import { minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { compareText } from '../../../catalog/go/text.ts';
import { quoted } from '../../../catalog/names.ts';
import { hasVersion } from '../../../catalog/olm/advisory/advisory.ts';
import { NO_EDIT } from '../../../catalog/olm/advisory/package-edit.ts';
import { type AdvisoryPlan, planOf } from '../../../catalog/olm/advisory/plan.ts';
import { type PublishedBundle, type World, worldOf } from '../../../catalog/olm/foresight/world.ts';
import { opmFindings } from '../../../catalog/rules/opm.ts';
import { sourceOf } from '../../../catalog/source.ts';
import { filesOf } from '../../change/catalog-files.ts';
import { fileReader, loadedFiles } from '../../change/content.ts';
import { type CatalogUnit, catalogUnits } from '../../change/unit.ts';
import { mentionsAny } from '../../file-pieces.ts';
import { bytesWithin } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { whyUnreadable } from '../../git/source.ts';
import { concernsCatalog, type StoredAdvisory } from '../../policy/advisories.ts';
import type { Policy } from '../../policy/policy.ts';
import { shortList } from '../../text.ts';
import { packagesOf } from '../world/context.ts';
import type { CatalogPath } from '../world/old-versions.ts';
import { type HistoryOf, pastOf } from '../world/publication-history.ts';

export interface AdvisoryRequest {
  /** Id of a commit that has been brought; its history says what was ever published. */
  readonly commit: string;
  /** Id of the tree that has the catalogs, when it is not the commit's. */
  readonly tree?: string;
  readonly policy: Policy;
  readonly advisory: StoredAdvisory;
  /** The day of the check, `YYYY-MM-DD`. */
  readonly today: string;
  /** Says which versions files had, where the clone has no history. */
  readonly historyOf?: HistoryOf | undefined;
  /**
   * Where the package's blobs are known to lie besides the places of its name. They are looked for when it is left out
   * and no place has the name.
   */
  readonly places?: readonly CatalogPath[];
}

/** The changes that an advisory makes in one catalog. */
export interface CatalogPlan {
  readonly catalog: string;
  readonly plan: AdvisoryPlan;
  /** Bundles that are left without an upgrade path, and that the advisory does not name. */
  readonly unaccepted: readonly string[];
  /** Paths of the files that have blobs of the package, before the edit. */
  readonly holders: ReadonlySet<string>;
  /** New content by path; undefined for a file that is removed. Empty if nothing is to be written. */
  readonly files: ReadonlyMap<string, string | undefined>;
  /** Why the edit cannot be made; undefined where it can, or where there is none. */
  readonly refused: string | undefined;
}

export interface AdvisoryPlans {
  /** The catalogs that have or had the package, in the order of names. */
  readonly catalogs: readonly CatalogPlan[];
  /** Notes about parts that were not checked. */
  readonly unread: readonly { readonly what: string; readonly why: string }[];
}

/**
 * Plans an advisory for every catalog that it concerns.
 *
 * @throws PipelineError `not-found` when the clone lacks objects, `usage` for a ledger that cannot be read
 */
export async function plansOf(repository: Repository, request: AdvisoryRequest): Promise<AdvisoryPlans> {
  const { advisory } = request;
  const { units, names, textsOf } = await concernedCatalogs(repository, request);
  const past = await pastOfUnits(repository, request, units);
  const catalogs: Planned[] = [];
  for (const catalog of names) {
    const published = past.published.get(catalog)?.get(advisory.package) ?? [];
    catalogs.push(await planCatalog({ request, catalog, published, ...(await textsOf(catalog)) }));
  }
  return { catalogs: refusedWithoutTarget(catalogs, advisory), unread: past.unread };
}

type Planned = CatalogPlan & { readonly hasTarget: boolean };

/**
 * The plans of catalogs; refused in all of them for a redirection if no catalog has its target, or if nobody can follow it.
 * If only some lack it, the plans list their installations.
 */
function refusedWithoutTarget(
  catalogs: readonly Planned[],
  { to, allowDowngrade }: StoredAdvisory,
): CatalogPlan[] {
  const isFound = catalogs.some(({ hasTarget }) => hasTarget);
  if (!to || (isFound && !reachesNobody(catalogs))) return [...catalogs];
  const what = to.version === undefined ? `channel ${quoted(to.channel ?? '')}` : `version ${to.version}`;
  const limit = allowDowngrade ? '' : ' without a downgrade (allowDowngrade)';
  const refused = isFound
    ? `no edit moves clusters to ${what}${limit}`
    : `no catalog has the ${what} to redirect to`;
  const impossible = {
    kind: 'impossible',
    edit: NO_EDIT,
    withoutUpgradePath: [],
    downgraded: [],
    channelsWithNewGraphs: [],
  } as const;
  const none = { files: new Map<string, undefined>(), unaccepted: [], refused };
  return catalogs.map((one) =>
    one.plan.kind === 'not affected' ? one : { ...one, ...none, plan: { ...one.plan, ...impossible } },
  );
}

/** Whether a redirection changes nothing, and nobody who has the versions moves to its target. */
function reachesNobody(catalogs: readonly Planned[]): boolean {
  const concerned = catalogs.filter(({ plan, hasTarget: has }) => has && plan.kind !== 'not affected');
  const all = concerned.flatMap(({ plan }) => plan.proof?.all.filter((one) => one.isAffected) ?? []);
  return (
    all.length > 0 &&
    concerned.every(({ plan }) => plan.kind === 'applied') &&
    all.every(({ missing }) => missing !== undefined)
  );
}

/** Whether a package has the version or the channel that an advisory redirects to. */
function hasTarget(ofPackage: Package | undefined, { to = {} }: StoredAdvisory): boolean {
  const { version, channel } = to;
  if (!ofPackage) return false;
  if (version === undefined) return channel === undefined || ofPackage.channels.has(channel);
  return [...ofPackage.bundles.values()].some((bundle) => hasVersion(bundle, version));
}

interface ConcernedCatalogs {
  readonly units: readonly CatalogUnit[];
  readonly names: readonly string[];
  /** The texts of a catalog's files, without the packages that are made from bundle directories. */
  readonly textsOf: (catalog: string) => Promise<CatalogTexts>;
}

interface CatalogTexts {
  readonly texts: ReadonlyMap<string, string>;
  /** The first file without a text, and why it has none. */
  readonly withoutText: string | undefined;
  /** Whether the catalog has no files of its own: it is rendered. */
  readonly isComposed: boolean;
}

/** The catalogs that an advisory is about, as far as they have a place for its package. */
export async function concernedCatalogs(
  { objects }: Pick<Repository, 'objects'>,
  request: AdvisoryRequest,
): Promise<ConcernedCatalogs> {
  const { commit, policy, advisory, tree = commit } = request;
  const all = await catalogUnits(objects, tree, policy.layout);
  const concerned = [...all.values()].filter(({ catalog }) => concernsCatalog(advisory, catalog));
  const units = await unitsOfPackage(objects, request, concerned);
  const files = filesOf(objects, { tree, units: new Map(units.map((unit) => [unit.path, unit])) });
  const textsOf = async (catalog: string): Promise<CatalogTexts> => {
    const listed = await files(catalog);
    const texts = new Map<string, string>();
    let withoutText: string | undefined;
    for (const { path, id, mode, composed } of listed) {
      if (composed) continue;
      // The check reports what is not read as well, and must not end here: a merge that removes it is checked, too.
      const why = whyUnreadable(mode);
      const bytes = why === undefined ? await bytesWithin(objects, id, policy.limits.fileBytes) : undefined;
      if (bytes) texts.set(path, bytes.toString('utf8'));
      else withoutText ??= `${path} is ${why ?? `larger than ${policy.limits.fileBytes} bytes`}`;
    }
    return { texts, withoutText, isComposed: listed.some(({ composed }) => composed !== undefined) };
  };
  return { units, names: [...new Set(units.map(({ catalog }) => catalog))].sort(compareText), textsOf };
}

/**
 * The units that may have blobs of an advisory's package. A folder may be called otherwise than the package in it: such
 * folders are those at `places`, or, if nobody knows the places and no folder has the name, those that contain the package.
 */
async function unitsOfPackage(
  objects: Repository['objects'],
  { commit, policy, advisory, tree = commit, places }: AdvisoryRequest,
  units: readonly CatalogUnit[],
): Promise<CatalogUnit[]> {
  const { package: name } = advisory;
  // A unit without a name may have any package.
  const hasItsName = (unit: CatalogUnit): boolean => (unit.package ?? name) === name;
  if (places) {
    const givenPlaces = new Set(places.map(({ catalog, path }) => JSON.stringify([catalog, path])));
    return units.filter(
      (unit) => hasItsName(unit) || givenPlaces.has(JSON.stringify([unit.catalog, unit.path])),
    );
  }
  if (units.some((unit) => unit.package === name)) return units.filter(hasItsName);
  const { limits } = policy;
  const found: CatalogUnit[] = [];
  for (const unit of units)
    if (hasItsName(unit) || (await hasPackage(objects, { unit, tree, name, limits }))) found.push(unit);
  return found;
}

interface SoughtPackage {
  readonly unit: CatalogUnit;
  readonly tree: string;
  readonly name: string;
  readonly limits: Policy['limits'];
}

/** Whether a unit has blobs of a package. Only files that contain its name are parsed. */
async function hasPackage(
  objects: Repository['objects'],
  { unit, tree, name, limits }: SoughtPackage,
): Promise<boolean> {
  if (unit.composed) return false;
  for (const file of await loadedFiles(objects, tree, unit)) {
    const size = (await objects.info(file.id))?.size ?? 0;
    // Most files do not have the name, and are not parsed.
    if (whyUnreadable(file.mode) !== undefined || size > limits.fileBytes) continue;
    if (!mentionsAny((await objects.read(file.id, limits.fileBytes)).bytes, [name])) continue;
    // Each with a reader of its own: nothing of it stays.
    const { blobs } = await fileReader(objects, limits).read(file);
    if (packagesOf(blobs).has(name)) return true;
  }
  return false;
}

/** What was ever published of an advisory's package in the catalogs of some units. */
async function pastOfUnits(
  repository: Repository,
  { commit, policy, advisory, historyOf }: AdvisoryRequest,
  units: readonly CatalogUnit[],
) {
  const places = units.map(({ catalog, path }) => ({ catalog, path }));
  const names = [...new Set(units.map(({ catalog }) => catalog))];
  const packages = new Set([advisory.package]);
  const touched = [{ names, packages, places }];
  return pastOf(repository, { base: commit, policy, touched, historyOf });
}

interface AdvisoryInput extends CatalogTexts {
  readonly request: AdvisoryRequest;
  readonly catalog: string;
  readonly published: readonly PublishedBundle[];
}

/** What an advisory changes in one catalog; `refused` says why it cannot be edited. */
async function planCatalog(scene: AdvisoryInput): Promise<Planned> {
  const { request, catalog, isComposed, texts, withoutText } = scene;
  const { advisory } = request;
  const before = await stateOf(scene, texts);
  const holders = holdersOf(before.world.catalog.blobs, advisory.package);
  const nothing = { catalog, holders, files: new Map<string, string>(), refused: undefined };
  const plan = planOf(before.world, advisory);
  const unaccepted = plan.withoutUpgradePath.filter((name) => !advisory.withoutUpgradePath.includes(name));
  const ofPackage = before.world.catalog.packages.get(advisory.package);
  const planned = { ...nothing, plan, unaccepted, hasTarget: hasTarget(ofPackage, advisory) };
  if (isComposed)
    return { ...planned, refused: 'the catalog is built from bundle directories: change these' };
  const unread = withoutText ?? before.unread[0]?.message;
  if (unread !== undefined) return { ...planned, refused: `the catalog cannot be read: ${unread}` };
  if (plan.kind === 'impossible') return { ...planned, refused: 'no edit does what the advisory asks' };
  if (plan.kind !== 'edit' || !ofPackage) return planned;
  if (plan.downgraded.length > 0) return { ...planned, refused: loweredText(plan.downgraded) };
  const old = [...texts].map(([path, text]): FileText => fileText(path, new TextEncoder().encode(text)));
  const changed = applyEdit(old, ofPackage, plan.edit);
  const files = new Map(changed.map((file) => [file.path, joinedText(file)]));
  const refused = await whyRefused(scene, { before, texts: new Map([...texts, ...files]) });
  if (refused !== undefined) return { ...planned, refused };
  return {
    ...planned,
    files: new Map([...files].map(([path, text]) => [path, text === '' ? undefined : text])),
  };
}

/**
 * Why an edit is refused that moves clusters to a lower version: `withoutUpgradePath` in an advisory accepts
 * that clusters stay where they are, not that they go down.
 */
function loweredText(names: readonly string[]): string {
  return `clusters would move from ${shortList(names, 'bundles')} to a lower version; if that is wanted, set allowDowngrade: true`;
}

/** Paths of the files with blobs of a package, whatever folder they are in. */
function holdersOf({ packages, channels, bundles, deprecations, others }: Blobs, name: string): Set<string> {
  const own = [
    ...packages.filter((blob) => blob.name === name),
    ...[...channels, ...bundles, ...deprecations, ...others].filter((blob) => blob.package === name),
  ];
  return new Set(own.map(({ document }) => document.file));
}

interface State {
  readonly world: World;
  /** Why files cannot be read, and for what else opm would refuse the catalog; all of severity error. */
  readonly unread: readonly Finding[];
  readonly errors: readonly Finding[];
}

/** The catalog with these texts as rules see it, and the errors that opm finds in it. */
async function stateOf(
  { request, catalog, published }: Omit<AdvisoryInput, 'texts' | 'isComposed'>,
  texts: ReadonlyMap<string, string>,
): Promise<State> {
  const { policy, advisory, today } = request;
  // An edit leaves an empty text where it removes the file.
  const source = sourceOf(Object.fromEntries([...texts].filter(([, text]) => text !== '')));
  const { blobs, findings } = await load(source, policy.limits);
  const platform = minorOfCatalog(catalog);
  const world = await worldOf({
    name: catalog,
    catalog: catalogOf(blobs),
    olm: policy.graph.olm,
    asOf: today,
    published: new Map([[advisory.package, published]]),
    ...(platform ? { platform } : {}),
  });
  const unread = findings.filter(({ severity }) => severity === 'error');
  return { world, unread, errors: opmFindings(blobs).filter(({ severity }) => severity === 'error') };
}

/**
 * Why an edit is refused, although the resolvers proved it: the text cannot be read, opm refuses it, or the advisory is
 * not done with it. Undefined if it is good.
 */
async function whyRefused(
  scene: AdvisoryInput,
  { before, texts }: { readonly before: State; readonly texts: ReadonlyMap<string, string> },
): Promise<string | undefined> {
  const { advisory } = scene.request;
  // What the edit takes away was published: clusters may still have it.
  const unedited = before.world.catalog.packages.get(advisory.package);
  const publishedSoFar = [...(unedited?.channels.values() ?? [])].flatMap(({ name: channel, entries }) =>
    entries.map(({ name }) => ({ channel, name, version: unedited?.bundles.get(name)?.version })),
  );
  const published = [...scene.published, ...publishedSoFar];
  const after = await stateOf({ ...scene, published }, texts);
  const knownErrors = new Set(before.errors.map(({ rule, message }) => `${rule} ${message}`));
  const [error] = [
    ...after.unread,
    ...after.errors.filter(({ rule, message }) => !knownErrors.has(`${rule} ${message}`)),
  ];
  if (error) return `the edited catalog would be invalid: ${error.message}`;
  // Planned once more, the edited catalog must need nothing.
  const { kind } = planOf(after.world, advisory);
  if (kind === 'applied' || kind === 'not affected') return undefined;
  return 'the text of the catalog cannot be edited as planned: edit it by hand';
}
