/** Everything that is found of a pull request's content. Each check gets the few things that it reads. */

import { minorOfCatalog } from '../../catalog/fbc/openshift.ts';
import type { DeployedImages } from '../../catalog/mirror/images.ts';
import type { Fleet } from '../../catalog/olm/fleet/fleet.ts';
import type { Change as OlmChange } from '../../catalog/olm/foresight/world.ts';
import { UNCONFIRMED } from '../../catalog/references/same-image.ts';
import type { Undecided } from '../../catalog/undecided.ts';
import type { Change } from '../change/change.ts';
import { catalogUnits } from '../change/unit.ts';
import type { Repository } from '../git/repository.ts';
import type { Registry } from '../ports.ts';
import { shortList } from '../text.ts';
import type { ForeseenMerge } from './changes.ts';
import { checkBundles } from './content/bundles.ts';
import { type CatalogResult, checkCatalog, checkNeighbors } from './content/catalog-rules.ts';
import { checkSizes } from './content/catalog-size.ts';
import { danglingBundles } from './content/dangling.ts';
import { deploymentsOf } from './content/deployments.ts';
import { disconnectedOf } from './content/disconnected.ts';
import { checkFragments, type FragmentResults } from './content/fragments.ts';
import { checkImageSets } from './content/image-sets.ts';
import { bundleRegistries, checkOperators } from './content/operators.ts';
import { checkPolicyAfter } from './content/policy-after.ts';
import { checkPullRequest } from './content/pull-request.ts';
import { checkReferences, type ReferenceResult } from './content/references.ts';
import { otherImages, takenTags } from './content/release.ts';
import type { Confirmed } from './content/tag-digests.ts';
import { takenNames } from './content/taken-names.ts';
import { checkTemplateGraphs } from './content/template-graphs.ts';
import { checkTemplates } from './content/templates.ts';
import { findUnlistedCatalogs, templatesAlone, withoutMoved } from './content/unlisted-catalogs.ts';
import { checkExtras, NO_EXTRAS } from './extra-steps.ts';
import { checkFleet, type FleetResult } from './fleet/check-fleet.ts';
import { type FleetNumbers, fleetChange } from './fleet/fleet-audit.ts';
import type { CheckReport, DisconnectedReport } from './report.ts';
import type { Asked } from './request.ts';
import { type LoadedCatalogs, renamedFindings } from './world/catalogs.ts';
import type { KeptOutlines } from './world/context.ts';
import { readWorld, type WorldSources } from './world/read-world.ts';
import type { CheckScene } from './world/scene.ts';
import type { BeforeAndAfter } from './world/touched-catalog.ts';

/** The findings about the content. */
export interface Defects {
  readonly results: readonly CatalogResult[];
  readonly references: ReferenceResult;
  /** Parts that were not checked; references that were not looked up are with the references. */
  readonly unchecked: CheckReport['unchecked'];
  /** Why it is not known whether the pull request harms packages that it does not touch. */
  readonly incomplete: string | undefined;
  /** Templates that are changed where no catalog is. */
  readonly templatesAlone: readonly string[];
  readonly fleet: FleetResult;
  readonly disconnected: readonly DisconnectedReport[];
}

/** A pull request as it is, as the merge makes it, and the catalogs that it touches. */
interface Pull {
  readonly scene: CheckScene;
  readonly merge: ForeseenMerge;
  readonly catalogs: LoadedCatalogs;
  readonly tags: Confirmed;
}

/** The data sources of the checks, besides the objects of the repository. */
export interface Sources extends WorldSources, Asked<'fleet' | 'foreseen' | 'otherCatalogs'> {
  readonly outlines: KeptOutlines;
  /** Asked for the images that a pull request brings, unless somebody else looks them up. */
  readonly images: Registry | undefined;
  /** Whether someone approves what the pull request changes. */
  readonly hasPeople: boolean;
}

/** Runs every check of content. Requests to different hosts run at the same time. */
export async function findDefects(
  repository: Repository,
  { scene, merge, catalogs, tags }: Pull,
  sources: Sources,
): Promise<Defects> {
  const { policy, change } = scene;
  const { release, after } = merge;
  const { touched, context } = catalogs;
  const { images, registry, store, otherCatalogs } = sources;
  // An advisory looks undone where a file that cannot be read hides its edit.
  const isWhole = change.isRead && change.unread.length === 0;
  const [ofCatalogs, ofFiles, ofExtras, references, taken, names] = await Promise.all([
    checkCatalogs(repository, { ...catalogs, scene: after }, sources),
    checkFiles(scene, { ...after, reader: catalogs.reader, resolve: repository.resolve }, sources.outlines),
    isWhole ? checkExtras(repository, { scene: after, touched }, sources) : NO_EXTRAS,
    checkReferences({ touched, bundles: release.bundles }, policy, images),
    takenTags(release.bundles, policy, images),
    takenNames({ scene, trees: after.trees, touched }, { registry, store, otherCatalogs }),
  ]);
  const { numbers, why } = ofCatalogs;
  const ofRelease = [...release.findings, ...taken, ...otherImages(touched, release.bundles)];
  // Where an image gets another catalog in its place, that is compared with what the image had: it is not only renamed.
  const renamed = catalogs.renamed.filter(({ from }) => !ofFiles.left.has(from));
  const results = [
    ...withoutMoved(ofCatalogs.results, ofFiles.unlisted)
      .map(ofExtras.soften)
      .map((result) => (numbers ? withNumbers(result, numbers) : result)),
    ...ofFiles.results,
    ...ofExtras.results,
    { findings: names.findings, known: [], diffs: [] },
    { findings: [...ofRelease, ...renamedFindings(renamed, policy)], known: [], diffs: [] },
  ];
  const fleetUnread = why === undefined ? [] : [{ what: 'how many clusters the merge reaches', why }];
  return {
    results: tags.unanswered.length === 0 ? results : results.map(withoutPins),
    references: withUnanswered(references, tags.unanswered),
    unchecked: [
      ...unreadParts(change),
      ...ofCatalogs.unchecked,
      ...release.unchecked,
      ...context.unchecked,
      ...ofFiles.unchecked,
      ...names.unchecked,
      ...fleetUnread,
    ],
    incomplete: context.incomplete ?? ofCatalogs.incomplete ?? names.incomplete,
    templatesAlone: ofFiles.templatesAlone,
    disconnected: disconnectedOf(touched, ofCatalogs.deployed),
    fleet: { ...(numbers ? { report: numbers.report } : {}), ...(why === undefined ? {} : { why }) },
  };
}

/** Parts that are unknown because files cannot be read. */
function unreadParts({ isRead, unread, unsafe }: Change): CheckReport['unchecked'] {
  const [first] = unsafe;
  if (!isRead)
    return [{ what: 'the catalogs', why: first?.message ?? 'the pull request is beyond the limits' }];
  return unread.map(({ catalog, path, packages, file }) => ({
    what: `${packages.length > 0 ? `${shortList(packages, 'packages')} in ${catalog}` : path}`,
    why: `${file} cannot be read`,
  }));
}

/** A result whose findings have their numbers of clusters. Its changes were only needed to count these. */
function withNumbers(
  { changes: _, ...result }: CatalogResult,
  { withClusterCount }: FleetNumbers,
): CatalogResult {
  return {
    ...result,
    findings: result.findings.map(withClusterCount),
    known: result.known.map(withClusterCount),
  };
}

/** Findings but for those about digests that a registry may yet confirm. */
function withoutPins(result: CatalogResult): CatalogResult {
  return { ...result, findings: result.findings.filter(({ subject }) => subject !== UNCONFIRMED) };
}

/**
 * Adds tags of which a registry did not say what they stand for: asking again may help, so the check is
 * inconclusive.
 */
function withUnanswered(references: ReferenceResult, whys: readonly string[]): ReferenceResult {
  if (whys.length === 0) return references;
  const unchecked = whys.map((why) => ({ what: 'the digests of tags on the base branch', why }));
  return { ...references, unchecked: [...references.unchecked, ...unchecked], unanswered: true };
}

interface FileResults
  extends Pick<Defects, 'results' | 'unchecked' | 'templatesAlone'>,
    Pick<FragmentResults, 'left'> {
  /** Those of the results that are about catalogs in no place of the layout. */
  readonly unlisted: readonly CatalogResult[];
}

/**
 * Checks the files next to catalogs: bundle directories, folders of operators, templates and the policy. What people wrote
 * is checked in the pull request's own scene; what must fit the catalogs, after the release has changed these.
 *
 * @param after the scene after the release, with what reads its files and finds commits
 */
async function checkFiles(
  scene: CheckScene,
  after: CheckScene & Pick<LoadedCatalogs, 'reader'> & Pick<Repository, 'resolve'>,
  outlines: KeptOutlines,
): Promise<FileResults> {
  const { objects, change, policy } = scene;
  const unlisted = await findUnlistedCatalogs(scene);
  if (!change.isRead)
    return { results: unlisted, unlisted, unchecked: [], templatesAlone: [], left: new Set() };
  const pull = await checkPullRequest(scene, outlines);
  const { results: ofFragments, left, unchecked: ofImages } = await checkFragments(scene);
  const imageSets = await checkImageSets(scene);
  const unchecked = [...pull.unchecked, ...imageSets.unchecked, ...ofImages];
  const results = [
    ...pull.results,
    ...imageSets.results,
    ...(await checkBundles(scene, after.resolve, outlines)),
    ...(await checkOperators(scene)),
    ...ofFragments,
    ...(await checkPolicyAfter(after)),
    ...unlisted,
  ];
  // A missing file is a consequence of the unreadable one.
  if (change.unread.length > 0) return { results, unlisted, unchecked, templatesAlone: [], left };
  const dangling = await danglingBundles(after, outlines);
  const alone = await templatesAlone(objects, change, policy);
  const ofTemplates = [...(await checkTemplates(after)), ...(await checkTemplateGraphs(after, alone))];
  return {
    results: [...results, ...dangling.results, ...ofTemplates],
    unlisted,
    unchecked: [...unchecked, ...dangling.unchecked],
    templatesAlone: alone,
    left,
  };
}

interface CatalogResults extends Pick<Defects, 'results' | 'unchecked' | 'incomplete'> {
  /** Images in the deployments of bundles, if the catalogs do not contain these deployments. */
  readonly deployed?: BeforeAndAfter<DeployedImages>;
  /** The effect of the merge on the fleet, or why that is unknown. */
  readonly numbers?: FleetNumbers | undefined;
  readonly why?: string | undefined;
}

/** Checks the touched catalogs, and those beside them, with all that is known of the repository. */
async function checkCatalogs(
  repository: Repository,
  { scene, touched, others }: Pick<LoadedCatalogs, 'touched' | 'others'> & { readonly scene: CheckScene },
  { fleet: given, foreseen, ...sources }: Sources,
): Promise<CatalogResults> {
  const { objects, policy, trees } = scene;
  const { registry } = sources;
  const { fleet, why } = await checkFleet({ objects, base: trees.base, policy, registry, given });
  if (touched.length === 0)
    return {
      results: [],
      unchecked: [],
      incomplete: undefined,
      numbers: fleet && (await numbersIn(scene, fleet, [])),
      why,
    };
  const read = await readWorld(repository, { scene, touched, others }, sources);
  const { unchecked, incomplete } = read;
  const world = { ...read.world, bundleRegistries: await bundleRegistries(scene) };
  const keepsChanges = fleet !== undefined || foreseen !== undefined;
  const results = await Promise.all([
    ...touched.map((catalog) => checkCatalog(catalog, world, { keepsChanges })),
    ...others.neighbors.map((catalog) => checkNeighbors(catalog, world)),
  ]);
  const { lookups } = world;
  const manifests = lookups && { before: lookups.before.manifests, after: lookups.after.manifests };
  const { images: asked, store } = sources;
  const deployed = await deploymentsOf(touched, manifests, { policy, registry: asked, store });
  const changes = results.flatMap((result) => result.changes ?? []);
  for (const change of changes) foreseen?.(change);
  const undecided = undecidedParts(results.flatMap((result) => result.undecided ?? []));
  const [first] = undecided;
  return {
    results: [...results, checkSizes(touched, policy)],
    unchecked: [...unchecked, ...undecided],
    incomplete: incomplete ?? (first && `${first.what}: ${first.why}`),
    // What rules could not decide would be missing in the numbers.
    numbers: fleet && !first ? await numbersIn(scene, fleet, changes) : undefined,
    why,
    deployed,
  };
}

/** Parts that rules could not decide, each once. */
export function undecidedParts(undecided: readonly Undecided[]): Defects['unchecked'][number][] {
  return [...new Map(undecided.map(({ what, why }) => [what, { what, why }])).values()];
}

/** Counts the clusters of a fleet that have the packages of a pull request. */
async function numbersIn(
  { objects, trees, policy, change: { packages, contents } }: CheckScene,
  fleet: Fleet,
  changes: readonly OlmChange[],
): Promise<FleetNumbers> {
  // A folder may be called otherwise than the package in it.
  const names = [...packages.keys(), ...[...contents.values()].flatMap((its) => [...its])];
  const catalogs = await Promise.all(
    [trees.base, trees.merged].map((tree) => catalogUnits(objects, tree, policy.layout)),
  );
  const platforms = catalogs.flatMap((units) =>
    [...units.values()].flatMap(({ catalog }) => minorOfCatalog(catalog) ?? []),
  );
  return fleetChange(fleet, { changes, platforms }, new Set(names));
}
