/**
 * The check of one pull request: permissions, and defects. Everything is read from git objects; policy and
 * owners come from the base branch; nothing of the pull request is executed.
 */
import { keptFiles } from '../change/content.ts';
import { mergedTree } from '../git/merge.ts';
import type { Repository } from '../git/repository.ts';
import type { Policy } from '../policy/policy.ts';
import type { PresetName } from '../policy/presets/preset.ts';
import { POLICY_PATH, type PolicyRead, policyAt, readPolicy } from '../policy/read-policy.ts';
import { RULE_IDS } from '../policy/rule-ids.ts';
import { policyOrLayoutAt } from '../policy/setup/policy-or-layout.ts';
import type { AuthorityDecision } from './authority/authority.ts';
import { changesBetween, classifyPull, type ForeseenPull, foreseeMerge, type Revisions } from './changes.ts';
import { type CheckedPull, findDefects, loadCatalogs } from './findings.ts';
import { type Outcome, reportOf, type Start } from './outcome.ts';
import { checkPeople, type Known, knownOf } from './people.ts';
import type { CheckReport } from './report.ts';
import type { CheckRequest } from './request.ts';
import { suggestionsFor } from './suggestions.ts';

/**
 * Checks a pull request.
 *
 * @throws PipelineError `not-found` for a revision that does not exist, `git`, `too-large`
 */
export async function check(repository: Repository, request: CheckRequest): Promise<CheckReport> {
  const revisions = await resolveRevisions(repository, request);
  const start = await startOf(repository, revisions, request);
  const { policy } = start.policy;
  if (!policy) return reportOf({ ...start, kind: 'no policy' });
  const merged = await mergedTree(repository, revisions);
  if (merged.kind !== 'merged') return reportOf({ ...start, kind: 'no merge', merged });
  const trees = { base: revisions.base, merged: merged.tree };
  const classified = await classifyPull({ ...portsOf(repository, request, policy), ...revisions, trees });
  const foreseen = await foreseeMerge(classified);
  const loaded = await loadCatalogs(foreseen);
  const [checked, known] = await Promise.all([findDefects(loaded), lookUpPeople(foreseen)]);
  const authority = checkPeople({ ...checked, known }, request.people);
  const report = reportOf(outcomeOf(start, checked, authority));
  return withSuggestions(checked, report);
}

async function resolveRevisions(repository: Repository, request: CheckRequest): Promise<Revisions> {
  const { ancestor } = request;
  const [base = '', head = ''] = await repository.resolve([request.base, request.head]);
  return { base, head, ...(ancestor === undefined ? {} : { ancestor }) };
}

/** The policy that holds: the base branch's, or the one that stands in for it. */
export async function startOf(
  repository: Repository,
  { base, head }: Revisions,
  { policy: given, today, findsLayout, presets }: CheckRequest,
): Promise<Start> {
  const ofBase = (): Promise<PolicyRead> =>
    findsLayout ? policyOrLayoutAt(repository, base, RULE_IDS) : policyAt(repository.objects, base, RULE_IDS);
  const policy = given
    ? { ...readPolicy(given.bytes, RULE_IDS, given.path), path: given.path }
    : { ...(await ofBase()), path: POLICY_PATH };
  return { base, head, policy: presets ? withPresets(policy, presets) : policy, today };
}

function withPresets<T extends PolicyRead>(read: T, presets: readonly PresetName[]): T {
  return read.policy ? { ...read, policy: { ...read.policy, presets } } : read;
}

/** What the steps of a check read from. */
function portsOf(
  repository: Repository,
  request: CheckRequest,
  policy: Policy,
): Pick<CheckedPull, 'repository' | 'objects' | 'request' | 'policy' | 'registry' | 'files'> {
  const registry = request.registryFor?.(policy);
  const files = request.kept?.files ?? keptFiles();
  return { repository, objects: repository.objects, request, policy, registry, files };
}

/** Looks up who the people are and what they approved; undefined where permissions are not checked. */
async function lookUpPeople(pull: ForeseenPull): Promise<Known | undefined> {
  const { repository, request } = pull;
  if (!request.people) return undefined;
  return knownOf(repository, { ...pull, changeBetween: changesBetween(pull) }, request.people);
}

function outcomeOf(start: Start, pull: CheckedPull, authority: AuthorityDecision | undefined): Outcome {
  const { change, results, references, unchecked, templatesAlone, context } = pull;
  return {
    ...start,
    kind: 'checked',
    tree: pull.trees.merged,
    change,
    results,
    references,
    unchecked,
    templatesAlone,
    context,
    disconnected: pull.disconnected,
    fleet: pull.fleet.report,
    released: pull.release.released,
    author: pull.request.people?.author.login,
    authority,
  };
}

async function withSuggestions(pull: CheckedPull, report: CheckReport): Promise<CheckReport> {
  const suggestions = await suggestionsFor(pull.repository, { ...pull, findings: report.findings });
  return suggestions.length === 0 ? report : { ...report, suggestions };
}
