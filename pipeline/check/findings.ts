/** The catalogs that a pull request touches, and everything that is found about them. */

import type { Fleet } from '../../catalog/olm/fleet/fleet.ts';
import type { Change as OlmChange } from '../../catalog/olm/foresight/world.ts';
import { UNCONFIRMED } from '../../catalog/references/same-image.ts';
import { RULES } from '../../catalog/rules/index.ts';
import { fileReader } from '../change/content.ts';
import { RULE_IDS } from '../policy/rule-ids.ts';
import { severitiesOf } from '../policy/severity.ts';
import { type OwnManifests, ownManifests } from './bundle-manifests.ts';
import { checkBundles } from './bundles.ts';
import { type CatalogResult, checkCatalog } from './catalog-rules.ts';
import { type TouchedCatalog, touchedCatalogs } from './catalogs.ts';
import type { ForeseenPull } from './changes.ts';
import { readCompanions } from './companions.ts';
import { type ContextReport, contextReport, NO_CONTEXT } from './context.ts';
import { danglingBundles } from './dangling.ts';
import { checkFleet, type FleetResult } from './fleet/check-fleet.ts';
import { type FleetNumbers, fleetChange } from './fleet/fleet-audit.ts';
import { checkPolicyAfter } from './policy-after.ts';
import { pastOf } from './publication-history.ts';
import { checkReferences, type ReferenceResult } from './references.ts';
import { otherImages, takenTags } from './release.ts';
import type { CheckReport } from './report.ts';
import { takenNames } from './taken-names.ts';
import { checkTemplates } from './templates.ts';
import { checkAdvisories, NO_ADVISORIES } from './undone-advisories.ts';
import { findUnlistedCatalogs, templatesAlone } from './unlisted-catalogs.ts';

/** A pull request with the catalogs that it touches. */
export interface LoadedPull extends ForeseenPull {
  readonly touched: readonly TouchedCatalog[];
  /** What was read of the packages that are not touched. */
  readonly context: ContextReport;
}

/** A pull request with everything that was found. */
export interface CheckedPull extends LoadedPull {
  readonly results: readonly CatalogResult[];
  readonly references: ReferenceResult;
  /** What could not be looked at; what references were not looked up is with the references. */
  readonly unchecked: CheckReport['unchecked'];
  /** Templates that are changed where no catalog is. */
  readonly templatesAlone: readonly string[];
  readonly fleet: FleetResult;
}

/** Reads the catalogs before and after the change. Of an unsafe change nothing more is read. */
export async function loadCatalogs(pull: ForeseenPull): Promise<LoadedPull> {
  const { after, policy } = pull;
  if (after.change.unsafe.length > 0) return { ...pull, touched: [], context: NO_CONTEXT };
  const reader = fileReader(after.objects, policy.limits, pull.files);
  const { touched, context } = await touchedCatalogs(after, reader, pull.request.kept?.outlines);
  return { ...pull, touched, context: contextReport(context, policy) };
}

/** Runs every check of content. Requests to different hosts run at the same time. */
export async function findDefects(pull: LoadedPull): Promise<CheckedPull> {
  const { objects, change, policy, tags, release, after, touched, context } = pull;
  const isSafe = change.unsafe.length === 0;
  const registry = pull.request.onlyReleased ? undefined : pull.registry;
  const { fleet, why } = await checkFleet({
    objects,
    base: after.trees.base,
    policy,
    registry: pull.registry,
    given: pull.request.fleet,
  });
  const [ofCatalogs, ofBundles, dangling, ofTemplates, ofPolicy, ofAdvisories, references, taken, names] =
    await Promise.all([
      checkCatalogs(pull, fleet),
      isSafe ? checkBundles(pull) : [],
      isSafe ? danglingBundles(after, pull.request.kept?.outlines) : { results: [], unchecked: [] },
      isSafe ? checkTemplates(after) : [],
      isSafe ? checkPolicyAfter(after, RULE_IDS) : [],
      isSafe ? checkAdvisories(pull) : NO_ADVISORIES,
      checkReferences({ touched, bundles: release.bundles }, policy, registry),
      takenTags(release.bundles, policy, registry),
      takenNames({ ...pull, registry: pull.registry }),
    ]);
  const ofRelease = [...release.findings, ...taken, ...otherImages(touched, release.bundles)];
  const numbers = fleet && fleetChange(fleet, ...reachOf(ofCatalogs.results, change));
  const results = [
    ...ofCatalogs.results
      .map(ofAdvisories.soften)
      .map((result) => (numbers ? withNumbers(result, numbers) : result)),
    ...ofBundles,
    ...dangling.results,
    { findings: names.findings, known: [], diffs: [] },
    ...ofTemplates,
    ...ofPolicy,
    ...ofAdvisories.results,
    ...(await findUnlistedCatalogs(objects, change, policy)),
    { findings: ofRelease, known: [], diffs: [] },
  ];
  return {
    ...pull,
    results: tags.unanswered.length === 0 ? results : results.map(withoutPins),
    references: withUnanswered(references, tags.unanswered),
    unchecked: [
      ...ofCatalogs.unchecked,
      ...release.unchecked,
      ...context.unchecked,
      ...dangling.unchecked,
      ...names.unchecked,
      ...(why === undefined ? [] : [{ what: 'how many clusters the merge reaches', why }]),
    ],
    fleet: { ...(numbers ? { report: numbers.report } : {}), ...(why === undefined ? {} : { why }) },
    templatesAlone: isSafe ? await templatesAlone(objects, change, policy) : [],
    context: { ...context, incomplete: context.incomplete ?? ofCatalogs.incomplete ?? names.incomplete },
  };
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
}

/** Checks the touched catalogs with their past, their companions and the manifests of their bundles. */
async function checkCatalogs(pull: LoadedPull, fleet: Fleet | undefined): Promise<CatalogResults> {
  const { repository, objects, policy, touched, tags, request, registry } = pull;
  if (touched.length === 0) return { results: [], unchecked: [], incomplete: undefined };
  const { trees } = pull.after;
  const images = { registry, store: request.cache };
  const { historyOf, kept } = request;
  const names = touched.flatMap((catalog) => catalog.names);
  const [past, companions] = await Promise.all([
    pastOf(repository, { base: trees.base, policy, touched, historyOf, kept: kept?.versions, ...images }),
    readCompanions({ objects, trees, policy, catalogs: names, ...images }),
  ]);
  const crds = await crdsFor(pull);
  const time = {
    today: request.today,
    published: past.published,
    released: past.released,
    lookups: crds.sides,
    companions: companions.of,
    digests: tags.digests,
    keepsChanges: fleet !== undefined,
  };
  return {
    results: await Promise.all(touched.map((catalog) => checkCatalog(catalog, policy, time))),
    unchecked: [...past.unread, ...crds.unchecked, ...companions.unchecked],
    incomplete: companions.incomplete,
  };
}

/** The manifests that are given, or the repository's own, if any rule looks at them. */
async function crdsFor({ request, policy, after, touched }: LoadedPull): Promise<OwnManifests> {
  const severityOf = severitiesOf(policy);
  const isNeeded = RULES.some((rule) => ABOUT_MANIFESTS.has(rule.id) && severityOf(rule) !== 'off');
  if (!request.crds && isNeeded) return ownManifests(after, touched);
  const { crds = () => undefined, manifests = () => undefined } = request;
  const given = { crds, manifests };
  return { sides: { before: given, after: given }, unchecked: [] };
}

/** The rules that look at manifests. */
export const ABOUT_MANIFESTS: ReadonlySet<string> = new Set([
  'graph/conversion-modes',
  'graph/crd-dropped',
  'graph/crd-unsafe-edge',
  'graph/install-modes-narrowed',
  'graph/min-kube-version',
  'graph/permissions-grow',
  'graph/removed-api',
]);
