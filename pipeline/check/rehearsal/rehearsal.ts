/**
 * A rehearsal: the latest merges of a repository, each checked as the gate would have checked it under a policy.
 * Reviews of that time are unknown, so it names the people to ask, not whether they would have approved.
 */

import type { Finding } from '../../../catalog/finding.ts';
import { appendToGroup } from '../../../catalog/go/grouped.ts';
import { HARM_RANKS } from '../../../catalog/rules/effect.ts';
import { PipelineError } from '../../error.ts';
import { type MergedCommit, mergedCommits } from '../../git/merged-commits.ts';
import type { Repository } from '../../git/repository.ts';
import type { Person } from '../../policy/identity.ts';
import type { Layout } from '../../policy/layout.ts';
import type { Policy } from '../../policy/policy.ts';
import { readPolicy } from '../../policy/read-policy.ts';
import { amountText } from '../../text.ts';
import type { CheckRequest } from '../request.ts';
import { checkedMerges, HARM, shallowNotes } from './history.ts';
import { isSuspect, type PastLayout, pastLayouts, withLayout } from './past-layouts.ts';
import { type ProposedSettings, proposedSettings } from './silencing.ts';
import { type RehearsedMerge, type RuleCount, ruleCounts, Tally } from './tally.ts';
import type { TimeLimit } from './time-limit.ts';

export interface RehearsalRequest {
  /** Revision of the branch's tip. */
  readonly head: string;
  /** How many merges, the latest. */
  readonly count: number;
  readonly policy: NonNullable<CheckRequest['policy']>;
  /** The day from which proposed waivers last, `YYYY-MM-DD`; that of the latest merge if that is later, or without it. */
  readonly today?: string;
  readonly limit?: TimeLimit;
  /** Told before each merge is checked. */
  readonly progress?: (state: {
    readonly done: number;
    readonly merges: number;
    readonly stopped: number;
  }) => void;
}

/** As JSON part of a public interface. */
export interface Rehearsal {
  /** Days of the first and the last merge, `YYYY-MM-DD`. */
  readonly from: string;
  readonly to: string;
  /** The latest first. */
  readonly merges: readonly RehearsedMerge[];
  readonly rules: readonly RuleCount[];
  /** The people whose approval passing merges would have waited for, with the numbers of merges, the most frequent first. */
  readonly people: readonly { readonly login: string; readonly merges: number }[];
  /** The latest first; months without harm are not among them. */
  readonly stranded: readonly StrandedMonth[];
  /** Lines for the policy that silence intended findings. */
  readonly intended: ProposedSettings;
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
}

interface StrandedMonth {
  /** `YYYY-MM`. */
  readonly month: string;
  /** Merges that would have done harm. */
  readonly merges: number;
  /** Installed versions that would have been stranded, by package. */
  readonly packages: readonly {
    readonly package: string;
    readonly versions: readonly string[];
    readonly catalogs: readonly string[];
  }[];
}

/**
 * Checks the last merges as if Portolan had been there.
 *
 * @throws PipelineError `usage` for a policy that cannot be read, `not-found`
 */
export async function rehearseMerges(repository: Repository, request: RehearsalRequest): Promise<Rehearsal> {
  const { head, count, policy, limit } = request;
  const { policy: read, findings } = readPolicy(policy.bytes);
  if (!read)
    throw new PipelineError('usage', `the policy cannot be read: ${findings[0]?.message ?? policy.path}`);
  const [tip = ''] = await repository.resolve([head]);
  const merges = (await mergedCommits(repository, tip, [])).slice(-count).reverse();
  const tally = await tallyMerges(repository, request, { tip, merges, read });
  const unchecked =
    limit && limit.left > 0
      ? [{ what: amountText(limit.left, 'merge'), why: limit.why }, ...tally.unchecked]
      : tally.unchecked;
  const place = new Map(merges.map(({ id }, i) => [id, i]));
  const rehearsed = tally.merges.sort((a, b) => (place.get(a.commit) ?? 0) - (place.get(b.commit) ?? 0));
  return {
    from: merges.at(-1)?.date ?? '',
    to: merges[0]?.date ?? '',
    merges: rehearsed,
    rules: ruleCounts(tally.rules),
    people: peopleAsked(rehearsed.filter(({ state }) => state === 'pending')),
    stranded: strandedByMonth(rehearsed),
    intended: proposedSettings(
      rehearsed.map(({ errors }) => errors),
      [merges[0]?.date ?? '', request.today ?? ''].sort().at(-1) ?? '',
    ),
    unchecked,
  };
}

interface RehearsedBranch {
  /** Id of the branch's tip. */
  readonly tip: string;
  /** The latest first. */
  readonly merges: readonly MergedCommit[];
  readonly read: Policy;
}

/**
 * Checks merges with the layout of today. Its errors may only say that the layout was another one: such merges are checked
 * again with that of their time.
 */
async function tallyMerges(
  repository: Repository,
  { policy, limit, progress }: RehearsalRequest,
  { tip, merges, read }: RehearsedBranch,
): Promise<Tally> {
  const tally = new Tally(shallowNotes(repository));
  // What to check of some merges under a policy.
  const requestFor = (own: typeof policy, { layout }: { readonly layout: Layout }, some: typeof merges) => ({
    tip,
    limit,
    merges: some,
    paths: catalogFolders(layout),
    // Leave presets out: the repository's own gate checked these merges at their time.
    more: (merge: MergedCommit) => ({ policy: own, presets: [], ...peopleOf(merge) }),
  });
  const tell = (done: number) =>
    progress?.({ done, merges: merges.length, stopped: stoppedOf(tally.merges).length });
  const layoutAt = pastLayouts(repository, read.layout);
  // By policy: merges that are checked again, with the layout of their time.
  const earlier = new Map<string, MergedCommit[]>();
  for await (const checked of checkedMerges(repository, requestFor(policy, read, merges), tell)) {
    const { merge, outcome } = checked;
    const past =
      outcome instanceof PipelineError || !isSuspect(outcome) ? SAME : await layoutOrError(layoutAt(merge));
    if (past instanceof PipelineError) tally.take(checked);
    else if (past.kind === 'unclear') tally.leave(merge, past.why);
    else {
      tally.leftOut.set(merge.id, past.leftOut);
      if (past.kind === 'same') tally.take(checked);
      else
        appendToGroup(earlier, Buffer.from(withLayout(policy.bytes, past.patterns)).toString('utf8'), merge);
    }
  }
  for (const [text, own] of earlier) {
    const other = { path: policy.path, bytes: Buffer.from(text) };
    const asked = requestFor(other, readPolicy(other.bytes).policy ?? read, own);
    for await (const checked of checkedMerges(repository, asked, () => undefined)) tally.take(checked);
  }
  return tally;
}

/** How many merges pass, and how many do not; each merge counts once. */
interface MergeCounts {
  readonly atOnce: number;
  readonly afterApproval: number;
  readonly fail: number;
  /** Merges that need an approval for which the policy names nobody. */
  readonly orphans: number;
  /** Merges that could not be checked completely. */
  readonly unfinished: number;
}

/** The counts that every output of a rehearsal shows. */
export function countsOf(merges: readonly RehearsedMerge[]): MergeCounts {
  const open = merges.filter(({ state }) => state === 'pending');
  const afterApproval = open.filter(({ asked }) => asked.length > 0).length;
  const orphans = orphansOf(merges).length;
  const fail = stoppedOf(merges).length;
  return {
    atOnce: merges.length - open.length - fail,
    afterApproval,
    fail,
    orphans,
    unfinished: open.length - afterApproval - orphans,
  };
}

/**
 * The error of the worst kind of harm, of these the one for most installed versions, with its merge; the first of equals.
 */
export function worstOf(
  merges: readonly RehearsedMerge[],
): { readonly merge: RehearsedMerge; readonly error: Finding } | undefined {
  const rank = ({ rule }: Finding): number => HARM_RANKS.get(rule) ?? Number.MAX_SAFE_INTEGER;
  const all = stoppedOf(merges).flatMap((merge) => merge.errors.map((error) => ({ merge, error })));
  return all.sort(
    (a, b) =>
      rank(a.error) - rank(b.error) || (b.error.installed?.length ?? 0) - (a.error.installed?.length ?? 0),
  )[0];
}

const SAME: PastLayout = { kind: 'same', leftOut: new Map() };

/** The layout of a merge, or why the clone cannot show it: then the check with today's layout counts. */
async function layoutOrError(layout: Promise<PastLayout>): Promise<PastLayout | PipelineError> {
  return layout.catch((error: unknown) => {
    if (error instanceof PipelineError) return error;
    throw error;
  });
}

/** Merges that the gate would have stopped until their author corrected them. */
export function stoppedOf(merges: readonly RehearsedMerge[]): RehearsedMerge[] {
  return merges.filter(({ state }) => state === 'failure');
}

/** Merges that wait for an approval for which the policy names nobody. */
export function orphansOf(merges: readonly RehearsedMerge[]): RehearsedMerge[] {
  return merges.filter(
    ({ state, needs, asked }) => state === 'pending' && needs.length > 0 && asked.length === 0,
  );
}

/**
 * Folders that hold all catalogs: of each pattern the folders before its first placeholder, such as `catalogs` of
 * `catalogs/{catalog}/**`; none where one has no such folder.
 */
function catalogFolders({ patterns }: Layout): string[] {
  const prefixes = patterns
    .filter(({ kind }) => kind === 'catalog')
    .map(({ pattern }) =>
      pattern
        .slice(0, pattern.search(/[{*]|$/))
        .replace(/[^/]*$/, '')
        .replace(/\/$/, ''),
    );
  return prefixes.includes('') ? [] : [...new Set(prefixes)];
}

/** The author of a merge as the check takes people; nothing where git names no account. */
function peopleOf(merge: MergedCommit): Partial<Pick<CheckRequest, 'people'>> {
  const author = accountOf(merge);
  // No commits: what the policy demands of commits did not hold when these were written.
  return author ? { people: { author, pusher: author, reviews: [], commits: [], holds: [] } } : {};
}

/** GitHub's private addresses, the newer ones with the account's number. */
const NOREPLY = /^(?:(\d{1,15})\+)?([A-Za-z0-9-]+(?:\[bot\])?)@users\.noreply\.github\.com$/;
/** What GitHub takes as a login. */
const LOGIN = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:\[bot\])?$/;
/** The subject of GitHub's merge commits, with the owner of the fork. */
const MERGED = /^Merge pull request #\d+ from ([A-Za-z0-9-]+)\//;

/** The account that wrote what was merged: by the merged fork, the mail address, or the name if it can be a login. */
export function accountOf({
  subject,
  author: { name, email },
}: Pick<MergedCommit, 'subject' | 'author'>): Person | undefined {
  const [, fork] = MERGED.exec(subject) ?? [];
  const [, id, account] = NOREPLY.exec(email) ?? [];
  const login = fork ?? account ?? (LOGIN.test(name) ? name : undefined);
  if (login === undefined) return undefined;
  // A number in the address is that of the address's account.
  const isOwn = fork === undefined || fork === account;
  return {
    login,
    id: id === undefined || !isOwn ? undefined : Number(id),
    ...(login.endsWith('[bot]') ? { bot: true } : {}),
  };
}

/** Who would have been asked for approvals, each with the number of merges; those with most first. */
function peopleAsked(merges: readonly RehearsedMerge[]): Rehearsal['people'] {
  const counts = new Map<string, number>();
  for (const login of merges.flatMap(({ asked }) => asked)) counts.set(login, (counts.get(login) ?? 0) + 1);
  return [...counts]
    .map(([login, count]) => ({ login, merges: count }))
    .sort((a, b) => b.merges - a.merges || (a.login < b.login ? -1 : 1));
}

/** The merges that would have taken an upgrade path from clusters, by month, the latest first. */
function strandedByMonth(merges: readonly RehearsedMerge[]): StrandedMonth[] {
  const harmful = merges.flatMap(({ date, errors }) => {
    const harm = errors.filter(({ rule, installed = [] }) => HARM.has(rule) && installed.length > 0);
    return harm.length > 0 ? [{ month: date.slice(0, 7), harm }] : [];
  });
  const months = [...new Set(harmful.map(({ month }) => month))].sort().reverse();
  return months.map((month) => {
    const ofMonth = harmful.filter((one) => one.month === month);
    return { month, merges: ofMonth.length, packages: strandedPackages(ofMonth.flatMap(({ harm }) => harm)) };
  });
}

/** The stranded versions that findings name, by package. */
function strandedPackages(harm: readonly Finding[]): StrandedMonth['packages'] {
  const names = [...new Set(harm.map((finding) => finding.package ?? ''))].sort();
  return names.map((name) => {
    const ofPackage = harm.filter((finding) => (finding.package ?? '') === name);
    return {
      package: name,
      versions: [...new Set(ofPackage.flatMap(({ installed = [] }) => installed))],
      catalogs: [...new Set(ofPackage.flatMap(({ catalogs = [] }) => catalogs))],
    };
  });
}
