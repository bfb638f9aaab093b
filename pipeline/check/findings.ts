/** The catalogs that a pull request touches, and everything that is found about them. */

import type { Bundle } from '../../catalog/fbc/model.ts';
import type { Fleet } from '../../catalog/olm/fleet/fleet.ts';
import type { ManifestsOf, Change as OlmChange } from '../../catalog/olm/foresight/world.ts';
import { UNCONFIRMED } from '../../catalog/references/same-image.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { fileReader } from '../change/content.ts';
import { RULE_IDS } from '../policy/rule-ids.ts';
import { severitiesOf } from '../policy/severity.ts';
import { shortList } from '../text.ts';
import { type OwnManifests, ownManifests } from './bundle-manifests.ts';
import { checkBundles } from './bundles.ts';
import { type CatalogResult, checkCatalog, checkNeighbors } from './catalog-rules.ts';
import { NO_OTHERS, type Sided, touchedCatalogs } from './catalogs.ts';
import type { ForeseenPull, LoadedPull } from './changes.ts';
import { readCompanions } from './companions.ts';
import { type ContextReport, contextReport, NO_CONTEXT } from './context.ts';
import { danglingBundles } from './dangling.ts';
import { disconnectedOf } from './disconnected.ts';
import { checkExtras, NO_EXTRAS } from './extra-steps.ts';
import { checkFleet, type FleetResult } from './fleet/check-fleet.ts';
import { type FleetNumbers, fleetChange } from './fleet/fleet-audit.ts';
import { readGoneBundles } from './gone-bundles.ts';
import { bundleRegistries, checkOperators } from './operators.ts';
import { checkPolicyAfter } from './policy-after.ts';
import { joinedPast, type PastRequest, pastOf } from './publication-history.ts';
import { checkReferences, type ReferenceResult } from './references.ts';
import { otherImages, takenTags } from './release.ts';
import { renamedFindings } from './renamed-catalogs.ts';
import type { CheckReport, DisconnectedReport } from './report.ts';
import { takenNames } from './taken-names.ts';
import { checkTemplates } from './templates.ts';
import { findUnlistedCatalogs, templatesAlone } from './unlisted-catalogs.ts';
import type { RepositoryWorld } from './world.ts';

/** A pull request with everything that was found. */
export interface CheckedPull extends LoadedPull {
  readonly results: readonly CatalogResult[];
  readonly references: ReferenceResult;
  /** What could not be looked at; what references were not looked up is with the references. */
  readonly unchecked: CheckReport['unchecked'];
  /** Templates that are changed where no catalog is. */
  readonly templatesAlone: readonly string[];
  readonly fleet: FleetResult;
  readonly disconnected: readonly DisconnectedReport[];
}

/** Reads the catalogs before and after the change, unless it is beyond the limits. */
export async function loadCatalogs(pull: ForeseenPull): Promise<LoadedPull> {
  const { after, policy } = pull;
  if (!after.change.isRead)
    return { ...pull, touched: [], others: NO_OTHERS, renamed: [], context: NO_CONTEXT };
  const reader = fileReader(after.objects, policy.limits, pull.files);
  const { outlines } = pull.request.kept ?? {};
  const { touched, readOthers, context, renamed } = await touchedCatalogs(after, reader, outlines);
  const others = await readOthers();
  return { ...pull, touched, others, renamed, context: contextReport(context, policy) };
}

/** Runs every check of content. Requests to different hosts run at the same time. */
export async function findDefects(pull: LoadedPull): Promise<CheckedPull> {
  const { objects, change, policy, tags, release, after, touched, context } = pull;
  const { isRead } = change;
  // What is missing is a consequence of what cannot be read.
  const isWhole = isRead && change.unread.length === 0;
  const registry = pull.request.onlyReleased ? undefined : pull.registry;
  const { fleet, why } = await checkFleet({
    objects,
    base: after.trees.base,
    policy,
    registry: pull.registry,
    given: pull.request.fleet,
  });
  const [
    ofCatalogs,
    ofBundles,
    ofOperators,
    dangling,
    ofTemplates,
    ofPolicy,
    ofExtras,
    references,
    taken,
    names,
  ] = await Promise.all([
    checkCatalogs(pull, fleet),
    isRead ? checkBundles(pull) : [],
    isRead ? checkOperators(pull) : [],
    isWhole ? danglingBundles(after, pull.request.kept?.outlines) : { results: [], unchecked: [] },
    isWhole ? checkTemplates(after) : [],
    isRead ? checkPolicyAfter(after, RULE_IDS) : [],
    isWhole ? checkExtras(pull) : NO_EXTRAS,
    checkReferences({ touched, bundles: release.bundles }, policy, registry),
    takenTags(release.bundles, policy, registry),
    takenNames({ ...pull, registry: pull.registry }),
  ]);
  const ofRelease = [...release.findings, ...taken, ...otherImages(touched, release.bundles)];
  const numbers = fleet && fleetChange(fleet, ...reachOf(ofCatalogs.results, change));
  const results = [
    ...ofCatalogs.results
      .map(ofExtras.soften)
      .map((result) => (numbers ? withNumbers(result, numbers) : result)),
    ...ofBundles,
    ...ofOperators,
    ...dangling.results,
    { findings: names.findings, known: [], diffs: [] },
    ...ofTemplates,
    ...ofPolicy,
    ...ofExtras.results,
    ...(await findUnlistedCatalogs(objects, change, policy)),
    { findings: [...ofRelease, ...renamedFindings(pull.renamed, policy)], known: [], diffs: [] },
  ];
  return {
    ...pull,
    results: tags.unanswered.length === 0 ? results : results.map(withoutPins),
    references: withUnanswered(references, tags.unanswered),
    unchecked: [
      ...unreadParts(change),
      ...ofCatalogs.unchecked,
      ...release.unchecked,
      ...context.unchecked,
      ...dangling.unchecked,
      ...names.unchecked,
      ...(why === undefined ? [] : [{ what: 'how many clusters the merge reaches', why }]),
    ],
    disconnected: disconnectedOf(touched, ofCatalogs.manifests),
    fleet: { ...(numbers ? { report: numbers.report } : {}), ...(why === undefined ? {} : { why }) },
    templatesAlone: isWhole ? await templatesAlone(objects, change, policy) : [],
    context: { ...context, incomplete: context.incomplete ?? ofCatalogs.incomplete ?? names.incomplete },
  };
}

/** What nobody can tell, because files cannot be read. */
function unreadParts({ isRead, unread, unsafe }: LoadedPull['change']): CheckReport['unchecked'] {
  const [first] = unsafe;
  if (!isRead)
    return [{ what: 'the catalogs', why: first?.message ?? 'the pull request is beyond the limits' }];
  return unread.map(({ catalog, path, packages, file }) => ({
    what: `${packages.length > 0 ? `${shortList(packages, 'packages')} in ${catalog}` : path}`,
    why: `${file} cannot be read`,
  }));
}

/** The changes that a fleet goes through, and the packages whose clusters are counted. */
function reachOf(
  results: readonly CatalogResult[],
  { packages, contents }: LoadedPull['change'],
): [changes: readonly OlmChange[], packages: ReadonlySet<string>] {
  // A folder may be called otherwise than the package in it.
  const names = [...packages.keys(), ...[...contents.values()].flatMap((its) => [...its])];
  return [results.flatMap(({ changes = [] }) => changes), new Set(names)];
}

/** Findings with their numbers of clusters; the changes have served. */
function withNumbers({ changes: _, ...result }: CatalogResult, { counted }: FleetNumbers): CatalogResult {
  return { ...result, findings: result.findings.map(counted), known: result.known.map(counted) };
}

/** Findings but for those about digests that a registry may yet confirm. */
function withoutPins(result: CatalogResult): CatalogResult {
  return { ...result, findings: result.findings.filter(({ subject }) => subject !== UNCONFIRMED) };
}

function withUnanswered(references: ReferenceResult, whys: readonly string[]): ReferenceResult {
  if (whys.length === 0) return references;
  const unchecked = whys.map((why) => ({ what: 'the digests of tags on the base branch', why }));
  return { ...references, unchecked: [...references.unchecked, ...unchecked], unanswered: true };
}

interface CatalogResults extends Pick<ContextReport, 'unchecked' | 'incomplete'> {
  readonly results: readonly CatalogResult[];
  /** What is known of bundles whose manifests the catalogs do not hold. */
  readonly manifests?: Sided<ManifestsOf>;
}

/** Checks the touched catalogs, and those beside them, with all that is known of the repository. */
async function checkCatalogs(pull: LoadedPull, fleet: Fleet | undefined): Promise<CatalogResults> {
  const { touched, others } = pull;
  if (touched.length === 0) return { results: [], unchecked: [], incomplete: undefined };
  const { world, unchecked, incomplete } = await worldFor(pull);
  const keepsChanges = fleet !== undefined;
  const results = await Promise.all([
    ...touched.map((catalog) => checkCatalog(catalog, world, { keepsChanges })),
    ...others.neighbors.map((catalog) => checkNeighbors(catalog, world)),
  ]);
  const { lookups } = world;
  const manifests = lookups && { before: lookups.before.manifests, after: lookups.after.manifests };
  const undecided = [...new Set(results.flatMap((result) => result.undecided ?? []))].map((name) => ({
    what: `dependencies in ${name}`,
    why: 'its packages require each other in more ways than are resolved',
  }));
  const [first] = undecided;
  return {
    results,
    unchecked: [...unchecked, ...undecided],
    incomplete: incomplete ?? (first && `${first.what}: ${first.why}`),
    ...(manifests ? { manifests } : {}),
  };
}

interface ReadWorld extends Pick<ContextReport, 'unchecked' | 'incomplete'> {
  readonly world: RepositoryWorld;
}

/** Reads what is known of the repository: the past, the companions, and the manifests of bundles. */
async function worldFor(pull: LoadedPull): Promise<ReadWorld> {
  const { repository, objects, policy, touched, others, tags, request, registry } = pull;
  const { trees } = pull.after;
  const images = { registry, store: request.cache };
  const names = touched.flatMap((catalog) => catalog.names);
  const [past, elsewhere, companions] = await Promise.all([
    pastOf(repository, { ...pastRequest(pull), touched, ...images }),
    pastOf(repository, {
      ...pastRequest(pull),
      touched: pastElsewhere(pull),
      what: PAST_ELSEWHERE,
      ...images,
    }),
    readCompanions({ objects, trees, policy, catalogs: names, ...images }),
  ]);
  const published = joinedPast(elsewhere.published, past.published);
  const gone = readsManifests(pull)
    ? await readGoneBundles(objects, published, { everywhere: others.everywhere, limits: policy.limits })
    : { published, bundles: [], unchecked: [] };
  const crds = await crdsFor(pull, gone.bundles);
  return {
    world: {
      ...{ policy, today: request.today, everywhere: others.everywhere, companions: companions.of },
      published: gone.published,
      released: new Set([...elsewhere.released, ...past.released]),
      lookups: crds.sides,
      digests: tags.digests,
      bundleRegistries: await bundleRegistries({ objects, trees, policy }),
    },
    unchecked: [past.unread, elsewhere.unread, gone.unchecked, crds.unchecked, companions.unchecked].flat(),
    incomplete: companions.incomplete,
  };
}

const PAST_ELSEWHERE = 'earlier published versions in the other catalogs';

function pastRequest({
  after: { trees },
  policy,
  request: { historyOf, kept },
}: LoadedPull): Pick<PastRequest, 'base' | 'policy' | 'historyOf' | 'kept'> {
  return { base: trees.base, policy, historyOf, kept: kept?.versions };
}

/** The catalogs that the pull request does not touch, where they have the packages that it touches. */
function pastElsewhere({ touched, others }: LoadedPull): PastRequest['touched'] {
  const known = new Set(touched.flatMap(({ places }) => places.map(({ path }) => path)));
  const packages = new Set(touched.flatMap((catalog) => [...catalog.packages]));
  const places = others.places.filter(({ path }) => !known.has(path));
  const names = [...new Set(places.map(({ catalog }) => catalog))];
  return places.length === 0 ? [] : [{ names, packages, places }];
}

/** The manifests that are given, or the repository's own, if any rule looks at them. @param gone bundles of the past */
async function crdsFor(pull: LoadedPull, gone: readonly Bundle[]): Promise<OwnManifests> {
  const { request, after, touched, others } = pull;
  if (!request.crds && readsManifests(pull))
    return ownManifests(after, [...touched, ...others.neighbors], gone);
  const { crds = () => undefined, manifests = () => undefined } = request;
  const given = { crds, manifests };
  return { sides: { before: given, after: given }, unchecked: [] };
}

function readsManifests({ policy }: Pick<LoadedPull, 'policy'>): boolean {
  const severityOf = severitiesOf(policy);
  return RULES.some((rule) => rule.reads?.includes('manifests') && severityOf(rule) !== 'off');
}
