/**
 * The check of one pull request: permissions, and defects. Everything is read from git objects; policy and
 * owners come from the base branch; nothing of the pull request is executed.
 */
import type { KeptFiles } from '../change/content.ts';
import { mergedTree } from '../git/merge.ts';
import type { Repository } from '../git/repository.ts';
import type { Policy } from '../policy/policy.ts';
import type { PresetName } from '../policy/presets/preset.ts';
import { POLICY_PATH, type PolicyRead, policyAt, readPolicy } from '../policy/read-policy.ts';
import { policyOrLayoutAt } from '../policy/setup/policy-or-layout.ts';
import { checkPeople, knownOf } from './authority/people.ts';
import { changesBetween, classifyPull, foreseeMerge, type Revisions } from './changes.ts';
import { findDefects, type Sources } from './findings.ts';
import { reportOf, type Start } from './outcome/outcome.ts';
import type { CheckReport } from './report.ts';
import { type CheckRequest, keptReadings } from './request.ts';
import { suggestionsFor } from './suggestions.ts';
import { loadCatalogs } from './world/catalogs.ts';

/**
 * Checks a pull request. Each step takes what it reads of the steps before, and of the request.
 *
 * @throws PipelineError `not-found` for a revision that does not exist, `git`, `too-large`
 */
export async function checkPullRequest(repository: Repository, request: CheckRequest): Promise<CheckReport> {
  const revisions = await resolveRevisions(repository, request);
  const start = await startOf(repository, revisions, request);
  const { policy } = start.policy;
  if (!policy) return reportOf({ ...start, kind: 'no policy' });
  const merged = await mergedTree(repository, revisions);
  if (merged.kind !== 'merged') return reportOf({ ...start, kind: 'no merge', merged });
  const { objects } = repository;
  const { people, today } = request;
  const { files, digests: given, ...sources } = sourcesOf(request, policy);
  const trees = { base: revisions.base, merged: merged.tree };
  const asked = { files, registry: sources.registry, digests: given };
  const { change, tags } = await classifyPull({ objects, policy, trees }, asked);
  const { digests } = tags;
  const scene = { objects, policy, trees, change };
  const merge = await foreseeMerge(repository, scene, { files, digests, today });
  const catalogs = await loadCatalogs(merge.after, files, sources.outlines);
  const changeBetween = changesBetween(repository, policy, { files, digests, today });
  const changed = { ...revisions, policy, change, committed: merge.committed, changeBetween };
  const [defects, known] = await Promise.all([
    findDefects(repository, { scene, merge, catalogs, tags }, { ...sources, digests }),
    people && knownOf(repository, changed, people),
  ]);
  const { results, fleet } = defects;
  const authority = checkPeople({ ...changed, results, fleet, known }, people);
  const { count } = catalogs.context;
  const { released } = merge.release;
  const author = people?.author.login;
  const tree = trees.merged;
  const report = reportOf({
    ...start,
    kind: 'checked',
    tree,
    change,
    defects,
    count,
    released,
    author,
    authority,
  });
  const suggestions = await suggestionsFor(repository, { ...revisions, change, findings: report.findings });
  return suggestions.length === 0 ? report : { ...report, suggestions };
}

/** The ids of the commits that a check compares. */
async function resolveRevisions(
  repository: Repository,
  asked: Pick<CheckRequest, 'base' | 'head' | 'ancestor'>,
): Promise<Revisions> {
  const { ancestor } = asked;
  const [base = '', head = ''] = await repository.resolve([asked.base, asked.head]);
  return { base, head, ...(ancestor === undefined ? {} : { ancestor }) };
}

/** The revisions and the policy of a check: that of the base branch, or the one given instead. */
export async function startOf(
  repository: Repository,
  { base, head }: Revisions,
  {
    policy: given,
    today,
    findsLayout,
    presets,
  }: Pick<CheckRequest, 'policy' | 'today' | 'findsLayout' | 'presets'>,
): Promise<Start> {
  const ofBase = (): Promise<PolicyRead> =>
    findsLayout ? policyOrLayoutAt(repository, base) : policyAt(repository.objects, base);
  const policy = given
    ? { ...readPolicy(given.bytes, given.path), path: given.path }
    : { ...(await ofBase()), path: POLICY_PATH };
  return { base, head, policy: presets ? withPresets(policy, presets) : policy, today };
}

function withPresets<T extends PolicyRead>(read: T, presets: readonly PresetName[]): T {
  return read.policy ? { ...read, policy: { ...read.policy, presets } } : read;
}

/** The data sources of the steps, besides the objects of the repository. */
function sourcesOf(request: CheckRequest, policy: Policy): Sources & { readonly files: KeptFiles } {
  const { today, historyOf, digests, crds, manifests, fleet, foreseen, otherCatalogs, cache, people } =
    request;
  const { files, versions, outlines } = request.kept ?? keptReadings();
  const registry = request.registryFor?.(policy);
  return {
    today,
    historyOf,
    digests,
    crds,
    manifests,
    fleet,
    foreseen,
    otherCatalogs,
    registry,
    store: cache,
    files,
    kept: versions,
    outlines,
    images: request.onlyReleased ? undefined : registry,
    hasPeople: people !== undefined,
  };
}
