/**
 * The check of one pull request: who may, and what is wrong. Everything is read from git
 * objects; policy and owners from the base; nothing of the pull request is executed.
 */

import type { DefinitionsOf, ManifestsOf } from '../../catalog/olm/foresight/world.ts';
import type { TagDigests } from '../../catalog/references/same-image.ts';
import { UNCONFIRMED } from '../../catalog/references/same-image.ts';
import { RULES } from '../../catalog/rules/index.ts';
import type { Change } from '../change/change.ts';
import { classifyChange, type Knowledge } from '../change/classify.ts';
import { fileReader, type KeptFiles } from '../change/content.ts';
import type { Trees } from '../change/scene.ts';
import { mergedTree } from '../git/merge.ts';
import type { Repository } from '../git/repository.ts';
import { Kept } from '../kept.ts';
import type { Store } from '../oci/image/memory.ts';
import type { Policy } from '../policy/policy.ts';
import { POLICY_PATH, type PolicyRead, policyAt, readPolicy } from '../policy/read-policy.ts';
import { RULE_IDS } from '../policy/rule-ids.ts';
import { severitiesOf } from '../policy/severity.ts';
import type { Registry } from '../ports.ts';
import { judgeBundles } from './bundles.ts';
import { type CheckScene, type TouchedCatalog, type TouchedCatalogs, touchedCatalogs } from './catalogs.ts';
import { readCompanions } from './companions.ts';
import { type ContextReport, contextReport, NO_CONTEXT } from './context.ts';
import { type OwnDefinitions, ownDefinitions } from './definitions.ts';
import { disconnectedOf } from './disconnected.ts';
import { type HistoryOf, pastOf } from './history-of.ts';
import { type Judgement, judgeCatalog } from './judge.ts';
import { reportOf } from './outcome.ts';
import { type BothChanges, judgePeople, knownOf, type People } from './people.ts';
import { judgePolicyAfter } from './policy-after.ts';
import { type KeptVersions, keptVersions } from './published.ts';
import { judgeReferences, type ReferenceJudgement } from './references.ts';
import { type Foreseen, foreseeRelease, otherImages, takenTags } from './release.ts';
import type { CheckReport } from './report.ts';
import { suggestionsFor } from './suggestions.ts';
import { tagDigests } from './tag-digests.ts';
import { judgeTemplates } from './templates.ts';
import { judgeOverlooked } from './unlisted-catalogs.ts';

export interface CheckRequest {
  /** Revision of the base branch's tip. */
  readonly base: string;
  /** Revision of the pull request's head. */
  readonly head: string;
  /** Id of their common ancestor, where the clone has no history to find it in. */
  readonly ancestor?: string;
  /** Bytes of a policy that stands in for the base branch's. */
  readonly policy?: { readonly path: string; readonly bytes: Uint8Array };
  /** Says which versions files had, where the clone has no history. */
  readonly historyOf?: HistoryOf;
  /** Who is asking; authority is not judged without. */
  readonly people?: People;
  /** The day for which is judged, `YYYY-MM-DD` in UTC. */
  readonly today: string;
  /** A client that asks what the policy allows; without it no registry is asked. */
  readonly registryFor?: (policy: Policy) => Registry;
  /** Whether registries are asked for released images only, since somebody else looks up references. */
  readonly onlyReleased?: boolean;
  /** What was read for other checks of the same repository. */
  readonly kept?: KeptReadings;
  /** Keeps what released images and companions have, by their digests. */
  readonly cache?: Store;
  /**
   * Definitions of bundles whose manifests the catalogs do not hold; without it they are those of the bundle
   * directories of the repository, as far as the policy's layout has any.
   */
  readonly definitions?: DefinitionsOf;
  /** Manifests of the same bundles. */
  readonly manifests?: ManifestsOf;
}

/** Contents that several checks of one repository have in common. */
export interface KeptReadings {
  readonly files: KeptFiles;
  readonly versions: KeptVersions;
}

/** Most bytes of files that stay parsed. */
const KEPT_BYTES = 32 * 1024 * 1024;

/** Room for what checks of one repository have in common. */
export function keptReadings(): KeptReadings {
  return { files: new Kept(KEPT_BYTES), versions: keptVersions() };
}

/**
 * Checks a pull request.
 *
 * @throws PipelineError `not-found` for a revision that does not exist, `git`, `too-large`
 */
export async function check(repository: Repository, request: CheckRequest): Promise<CheckReport> {
  const ids = await resolveRevisions(repository, request);
  const read = await readPolicyOf(repository, ids.base, request);
  const start = { ...ids, policy: read, today: request.today };
  if (!read.policy) return reportOf({ ...start, kind: 'no policy' });
  const merged = await mergedTree(repository, { ...ids, ...ancestorOf(request) });
  if (merged.kind !== 'merged') return reportOf({ ...start, kind: 'no merge', merged });
  const trees = { base: ids.base, merged: merged.tree };
  // The classes and the rules read the same files.
  const files = request.kept?.files ?? new Kept(KEPT_BYTES);
  const registry = request.registryFor?.(read.policy);
  const unsettled = await classifyChange(repository.objects, trees, read.policy, { files });
  const tags = await tagDigests(repository.objects, unsettled.pins, {
    base: ids.base,
    policy: read.policy,
    registry,
  });
  const knowledge = { files, digests: tags.digests };
  const change =
    tags.digests.size === 0
      ? unsettled
      : await classifyChange(repository.objects, trees, read.policy, knowledge);
  const scene = { objects: repository.objects, trees, change, policy: read.policy };
  // Catalogs are judged as the merge will leave them, unless that is unsafe: then as the pull request brings them.
  const foreseen = await foreseenIn(repository, { ...scene, knowledge }, request.today);
  const unsafe = change.unsafe.length > 0 ? [] : foreseen.scene.change.unsafe;
  const after = unsafe.length > 0 ? scene : foreseen.scene;
  const { touched, context } = await touchedIn(after, files);
  const around = context ? contextReport(context, scene.policy) : NO_CONTEXT;
  const asked = {
    ...ids,
    ...ancestorOf(request),
    change,
    committed: committedOf(scene, foreseen.scene),
    policy: read.policy,
    changeBetween: changesUnder(repository, read.policy, { today: request.today, knowledge }),
  };
  const brought = { touched, bundles: foreseen.bundles };
  const looksUp = request.onlyReleased ? undefined : registry;
  // What hosts are asked for does not wait for one another.
  const [
    { judgements: ofCatalogs, unchecked, incomplete },
    ofBundles,
    ofTemplates,
    ofPolicy,
    references,
    taken,
    known,
  ] = await Promise.all([
    judgeCatalogs(repository, { ...after, touched, registry, digests: tags.digests }, request),
    change.unsafe.length > 0 ? [] : judgeBundles(scene),
    change.unsafe.length > 0 ? [] : judgeTemplates(after),
    change.unsafe.length > 0 ? [] : judgePolicyAfter(after, RULE_IDS),
    judgeReferences(brought, scene.policy, looksUp),
    takenTags(foreseen.bundles, scene.policy, looksUp),
    request.people && knownOf(repository, asked, request.people),
  ]);
  const ofRelease = [...unsafe, ...foreseen.findings, ...taken, ...otherImages(touched, foreseen.bundles)];
  const judgements = [
    ...ofCatalogs,
    ...ofBundles,
    ...ofTemplates,
    ...ofPolicy,
    ...(await judgeOverlooked(repository.objects, change, scene.policy)),
    { findings: ofRelease, known: [], diffs: [] },
  ];
  const authority = judgePeople({ ...asked, judgements, known }, request.people);
  const author = request.people?.author.login;
  const judged = {
    change,
    judgements: tags.unanswered.length === 0 ? judgements : judgements.map(withoutPins),
    references: withUnanswered(references, tags.unanswered),
    unchecked: [...unchecked, ...foreseen.unchecked, ...around.unchecked],
    context: { ...around, incomplete: around.incomplete ?? incomplete },
    authority,
    author,
    disconnected: disconnectedOf(touched),
    released: foreseen.released,
  };
  const report = reportOf({ ...start, kind: 'judged', tree: merged.tree, ...judged });
  return withSuggestions(repository, { ...ids, ...ancestorOf(request), change, report });
}

interface Reported extends Ids {
  readonly ancestor?: string;
  readonly change: Change;
  readonly report: CheckReport;
}

async function withSuggestions(repository: Repository, { report, ...scene }: Reported): Promise<CheckReport> {
  const suggestions = await suggestionsFor(repository, { ...scene, findings: report.findings });
  return suggestions.length === 0 ? report : { ...report, suggestions };
}

/** Findings but for those about digests that a registry may yet confirm. */
function withoutPins(judgement: Judgement): Judgement {
  return { ...judgement, findings: judgement.findings.filter(({ subject }) => subject !== UNCONFIRMED) };
}

function withUnanswered(references: ReferenceJudgement, whys: readonly string[]): ReferenceJudgement {
  if (whys.length === 0) return references;
  const unchecked = whys.map((why) => ({ what: 'what tags of the base branch stand for', why }));
  return { ...references, unchecked: [...references.unchecked, ...unchecked], unanswered: true };
}

interface Ids {
  readonly base: string;
  readonly head: string;
}

async function resolveRevisions(repository: Repository, { base, head }: CheckRequest): Promise<Ids> {
  const [baseId = '', headId = ''] = await repository.resolve([base, head]);
  return { base: baseId, head: headId };
}

function ancestorOf({ ancestor }: CheckRequest): { ancestor?: string } {
  return ancestor === undefined ? {} : { ancestor };
}

async function readPolicyOf(
  repository: Repository,
  base: string,
  request: CheckRequest,
): Promise<PolicyRead & { path: string }> {
  if (request.policy) return { ...readPolicy(request.policy.bytes, RULE_IDS), path: request.policy.path };
  return { ...(await policyAt(repository.objects, base, RULE_IDS)), path: POLICY_PATH };
}

type Scene = Omit<CheckScene, 'reader'>;

/** What is released after the merge, and the scene as it is then. */
async function foreseenIn(
  repository: Repository,
  { knowledge, ...scene }: Scene & { readonly knowledge: Knowledge },
  today: string,
): Promise<Foreseen & { scene: Scene }> {
  const { trees, policy, change } = scene;
  const none = { tree: trees.merged, bundles: [], findings: [], unchecked: [], released: [] };
  if (change.unsafe.length > 0) return { ...none, scene };
  const foreseen = await foreseeRelease(repository, trees, { policy, today });
  if (foreseen.tree === trees.merged) return { ...foreseen, scene };
  const then = { base: trees.base, merged: foreseen.tree };
  const changed = await classifyChange(repository.objects, then, policy, knowledge);
  return { ...foreseen, scene: { ...scene, trees: then, change: changed } };
}

/** Says what lies between two trees as it says it of the pull request. */
function changesUnder(
  repository: Repository,
  policy: Policy,
  { today, knowledge }: { readonly today: string; readonly knowledge: Knowledge },
): (trees: Trees) => Promise<BothChanges> {
  const { objects } = repository;
  return async (trees) => {
    const scene = { objects, trees, policy, change: await classifyChange(objects, trees, policy, knowledge) };
    const foreseen = await foreseenIn(repository, { ...scene, knowledge }, today);
    return { change: scene.change, committed: committedOf(scene, foreseen.scene) };
  };
}

/** What the merge leaves, where it commits it without asking anybody again. */
function committedOf({ policy, change }: Scene, then: Scene): Change | undefined {
  return policy.release?.mode === 'commit' && then.change !== change ? then.change : undefined;
}

async function touchedIn(
  scene: Omit<CheckScene, 'reader'>,
  files: KeptFiles,
): Promise<Partial<TouchedCatalogs> & Pick<TouchedCatalogs, 'touched'>> {
  // What is unsafe is not read any further.
  if (scene.change.unsafe.length > 0) return { touched: [] };
  const reader = fileReader(scene.objects, scene.policy.limits, files);
  return touchedCatalogs({ ...scene, reader });
}

interface Touched extends Omit<CheckScene, 'reader'> {
  readonly touched: readonly TouchedCatalog[];
  readonly registry: Registry | undefined;
  readonly digests: TagDigests;
}

interface CatalogJudgements extends Pick<ContextReport, 'unchecked' | 'incomplete'> {
  readonly judgements: Judgement[];
}

async function judgeCatalogs(
  repository: Repository,
  scene: Touched,
  request: CheckRequest,
): Promise<CatalogJudgements> {
  const { objects, trees, policy, touched, registry, digests } = scene;
  const { today, historyOf } = request;
  if (touched.length === 0) return { judgements: [], unchecked: [], incomplete: undefined };
  const store = request.cache;
  const names = touched.flatMap((catalog) => catalog.names);
  const [{ published, released, unread }, companions] = await Promise.all([
    pastOf(repository, {
      base: trees.base,
      policy,
      touched,
      historyOf,
      kept: request.kept?.versions,
      registry,
      store,
    }),
    readCompanions({ objects, trees, policy, catalogs: names, registry, store }),
  ]);
  const { sides, unchecked } = await definitionsFor(scene, request);
  const time = { today, published, released, definitions: sides, companions: companions.of, digests };
  return {
    judgements: await Promise.all(touched.map((catalog) => judgeCatalog(catalog, policy, time))),
    unchecked: [...unread, ...unchecked, ...companions.unchecked],
    incomplete: companions.incomplete,
  };
}

/** The manifests that are given, or the repository's own, if anybody asks for them. */
function definitionsFor(scene: Touched, { definitions, manifests }: CheckRequest): Promise<OwnDefinitions> {
  const isAsked = RULES.some(
    (rule) => ABOUT_MANIFESTS.has(rule.id) && severitiesOf(scene.policy)(rule) !== 'off',
  );
  if (!definitions && isAsked) return ownDefinitions(scene, scene.touched);
  const given = { definitions: definitions ?? (() => undefined), manifests: manifests ?? (() => undefined) };
  return Promise.resolve({ sides: { before: given, after: given }, unchecked: [] });
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
