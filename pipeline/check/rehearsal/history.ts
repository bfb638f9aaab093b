/**
 * The past of a repository of catalogs, checked as if each merge were a pull request
 * today: which of them stranded whom.
 */
import type { Finding } from '../../../catalog/finding.ts';
import { RULES } from '../../../catalog/rules/index.ts';
import { isWithin } from '../../change/catalogs.ts';
import { PipelineError } from '../../error.ts';
import { type MergedCommit, mergedCommits } from '../../git/merged-commits.ts';
import type { Repository } from '../../git/repository.ts';
import { checkPullRequest } from '../check.ts';
import type { CheckReport } from '../report.ts';
import { type CheckRequest, keptReadings } from '../request.ts';
import { type EndedVersions, endedVersions, type OldVersion, oldVersions } from '../world/old-versions.ts';
import type { HistoryOf } from '../world/publication-history.ts';
import type { TimeLimit } from './time-limit.ts';

/** As JSON part of a public interface. */
export interface HistoryAudit {
  /** How many merges changed catalogs. */
  readonly merges: number;
  /** Merges that harmed clusters, the latest first. */
  readonly harmful: readonly HarmfulMerge[];
  /** Parts that could not be checked, and why. */
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
}

export interface HarmfulMerge {
  readonly commit: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly subject: string;
  readonly findings: readonly Finding[];
}

/** Rules that name the installations that a change harms. */
export const HARM: ReadonlySet<string> = new Set(
  RULES.filter(({ harm }) => harm?.kind === 'loss' || harm?.kind === 'change').map(({ id }) => id),
);

interface HistoryRequest {
  /** Revision of the branch's tip. */
  readonly head: string;
  /** What changes catalogs, as paths from the top of the repository; everything where there are none. */
  readonly paths: readonly string[];
  /** The first day to look at, `YYYY-MM-DD`; the beginning without it. */
  readonly since?: string | undefined;
  /** Told before each merge is checked. */
  readonly progress?: (state: HistoryProgress) => void;
  /** Told of each merge that did harm when it is found. */
  readonly found?: (merge: HarmfulMerge) => void | Promise<void>;
}

interface HistoryProgress {
  /** Merges that were checked. */
  readonly done: number;
  readonly merges: number;
  readonly harmful: number;
}

/** Checks every merge that changed catalogs, the latest first. */
export async function auditHistory(repository: Repository, request: HistoryRequest): Promise<HistoryAudit> {
  const { head, paths, since = '', progress, found } = request;
  const [tip = ''] = await repository.resolve([head]);
  const merges = (await mergedCommits(repository, tip, paths)).filter(({ date }) => date >= since).reverse();
  const harmful: HarmfulMerge[] = [];
  const unchecked = [...shallowNotes(repository)];
  // With a lookup that knows no CRDs, bundle directories are not read, merge by merge.
  const asked = { tip, paths, merges, more: () => ({ crds: () => undefined }) };
  const tell = (done: number) => progress?.({ done, merges: merges.length, harmful: harmful.length });
  for await (const { merge, outcome } of checkedMerges(repository, asked, tell)) {
    const { id, date, subject } = merge;
    if (outcome instanceof PipelineError) {
      unchecked.push({ what: `${date} ${subject}`, why: outcome.message });
      continue;
    }
    const findings = outcome.findings.filter(({ rule, severity }) => severity === 'error' && HARM.has(rule));
    if (findings.length === 0) continue;
    const one = { commit: id, date, subject, findings };
    harmful.push(one);
    await found?.(one);
  }
  return { merges: merges.length, harmful, unchecked };
}

/** A note about what a shallow clone does not show. */
export function shallowNotes({ shallow }: Repository): { readonly what: string; readonly why: string }[] {
  return shallow ? [{ what: 'earlier merges', why: 'the clone is shallow: git fetch --unshallow' }] : [];
}

interface MergesAsked {
  /** Id of the branch's tip. */
  readonly tip: string;
  /** The folders of catalogs; everywhere if empty. */
  readonly paths: readonly string[];
  readonly merges: readonly MergedCommit[];
  /** Further settings for the check of a merge. */
  readonly more: (merge: MergedCommit) => Omit<CheckRequest, 'base' | 'head' | 'today'>;
  /** Ends the checks, and learns how many merges are left. */
  readonly limit?: TimeLimit | undefined;
}

export interface CheckedMerge {
  readonly merge: MergedCommit;
  readonly outcome: CheckReport | PipelineError;
}

/** How many merges what was read stays for, if none of them asks for it: a package that is left alone takes no memory. */
const ROUNDS = 20;

/**
 * Checks merges as if each were a pull request onto the commit before it, on its own day.
 *
 * @param tell called before each of them
 */
export async function* checkedMerges(
  repository: Repository,
  { tip, paths, merges, more, limit }: MergesAsked,
  tell: (done: number) => void,
): AsyncGenerator<CheckedMerge> {
  const ended = await endedVersions(repository, tip, paths);
  const kept = keptReadings();
  for (const [i, merge] of merges.entries()) {
    if (limit?.isOver()) {
      limit.left += merges.length - i;
      return;
    }
    tell(i);
    const { id, before, date } = merge;
    const past = pastBefore(repository, { ended, id, before, paths });
    const asked = { base: before, head: id, ancestor: before, today: date, kept, ...past, ...more(merge) };
    const outcome = await checkPullRequest(repository, asked).catch((error: unknown) => {
      if (error instanceof PipelineError) return error;
      throw error;
    });
    yield { merge, outcome };
    for (const cache of [kept.versions, kept.outlines]) cache.endRound(ROUNDS);
  }
}

interface BranchPast {
  /** What each commit of the branch ended, the latest first. */
  readonly ended: readonly EndedVersions[];
  /** Ids of the merge and of the commit before it. */
  readonly id: string;
  readonly before: string;
  readonly paths: readonly string[];
}

/** The history that a check of an old merge may see: what files had before it, from the log of the whole branch. */
function pastBefore(
  repository: Repository,
  { ended, id, before, paths }: BranchPast,
): { historyOf?: HistoryOf } {
  const at = ended.findIndex(({ commit }) => commit === id);
  // The log lacks this merge, or what was before it: the check then looks its history up itself.
  if (at < 0 || repository.shallow) return {};
  return {
    historyOf: async (places) => {
      const folders = [...new Set(places.map(({ path }) => path))];
      // The log has only what is below `paths`: other folders need one of their own.
      if (paths.length > 0 && !folders.every((folder) => paths.some((path) => isWithin(folder, path)))) {
        return oldVersions(repository, before, places);
      }
      const versions = ended.slice(at + 1).flatMap((one) => one.versions);
      // Most versions are of few files.
      const asked = new Map<string, boolean>();
      const isAsked = ({ path }: OldVersion): boolean => {
        const is = asked.get(path) ?? folders.some((folder) => isWithin(path, folder));
        asked.set(path, is);
        return is;
      };
      return { versions: versions.filter(isAsked), incomplete: undefined };
    },
  };
}
