/**
 * The past of a repository of catalogs, judged as if each merge were a pull request
 * today: which of them stranded whom.
 */
import type { Finding } from '../../catalog/finding.ts';
import { PipelineError } from '../error.ts';
import { mergedCommits } from '../git/merges.ts';
import type { Repository } from '../git/repository.ts';
import { check } from './check.ts';
import type { HistoryOf } from './history-of.ts';
import { type EndedVersions, endedVersions, type OldVersion, oldVersions } from './published.ts';
import { keptReadings } from './request.ts';

/** As JSON part of a public interface. */
export interface HistoryAudit {
  /** How many merges changed catalogs. */
  readonly merges: number;
  /** Those that did somebody harm, the latest first. */
  readonly harmful: readonly HarmfulMerge[];
  /** What could not be judged, and why. */
  readonly unchecked: readonly { readonly what: string; readonly why: string }[];
}

export interface HarmfulMerge {
  readonly commit: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly subject: string;
  readonly findings: readonly Finding[];
}

/** Rules that say who was harmed by a change. */
const HARM: ReadonlySet<string> = new Set([
  'graph/automatic-downgrade',
  'graph/bundle-mutated',
  'graph/channel-removed',
  'graph/default-channel-changed',
  'graph/head-regression',
  'graph/package-removed',
  'graph/strands-installed-v0',
  'graph/strands-installed-v1',
  'graph/upgrade-lost-v1',
]);

export interface HistoryRequest {
  /** Revision of the branch's tip. */
  readonly head: string;
  /** What changes catalogs, as paths from the top of the repository; everything where there are none. */
  readonly paths: readonly string[];
  /** The first day to look at, `YYYY-MM-DD`; the beginning without it. */
  readonly since?: string | undefined;
  /** Told before each merge is judged. */
  readonly progress?: (state: HistoryProgress) => void;
  /** Told of each merge that did harm when it is found. */
  readonly found?: (merge: HarmfulMerge) => void | Promise<void>;
}

export interface HistoryProgress {
  /** Merges that were judged. */
  readonly done: number;
  readonly merges: number;
  readonly harmful: number;
}

/** Judges every merge that changed catalogs, the latest first. */
export async function history(repository: Repository, request: HistoryRequest): Promise<HistoryAudit> {
  const { head, paths, since = '', progress, found } = request;
  const [tip = ''] = await repository.resolve([head]);
  const merges = (await mergedCommits(repository, tip, paths)).filter(({ date }) => date >= since).reverse();
  const ended = await endedVersions(repository, tip, paths);
  const kept = keptReadings();
  const harmful: HarmfulMerge[] = [];
  const unchecked: { what: string; why: string }[] = repository.shallow
    ? [{ what: 'merges before those', why: 'the clone is shallow: git fetch --unshallow' }]
    : [];
  for (const [i, { id, before, date, subject }] of merges.entries()) {
    progress?.({ done: i, merges: merges.length, harmful: harmful.length });
    try {
      const asked = { base: before, head: id, ancestor: before, today: date, definitions: () => undefined };
      const report = await check(repository, {
        ...asked,
        kept,
        ...pastBefore(repository, { ended, id, before, paths }),
      });
      const findings = report.findings.filter(({ rule, severity }) => severity === 'error' && HARM.has(rule));
      if (findings.length === 0) continue;
      const merge = { commit: id, date, subject, findings };
      harmful.push(merge);
      await found?.(merge);
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      unchecked.push({ what: `${date} ${subject}`, why: error.message });
    }
  }
  return { merges: merges.length, harmful, unchecked };
}

interface BranchPast {
  readonly ended: readonly EndedVersions[];
  /** Ids of the merge and of the commit before it. */
  readonly id: string;
  readonly before: string;
  readonly paths: readonly string[];
}

/** What files had before a merge, from the log of the whole branch; the check asks git where that log lacks a place. */
function pastBefore(
  repository: Repository,
  { ended, id, before, paths }: BranchPast,
): { historyOf?: HistoryOf } {
  const at = ended.findIndex(({ commit }) => commit === id);
  if (at < 0 || repository.shallow) return {};
  return {
    historyOf: async (places) => {
      const folders = new Set(places.map(({ path }) => path));
      if (paths.length > 0 && ![...folders].every((folder) => paths.some((path) => isBelow(folder, path)))) {
        return oldVersions(repository, before, places);
      }
      const versions = ended.slice(at + 1).flatMap((one) => one.versions);
      const isAsked = ({ path }: OldVersion): boolean => pathsAbove(path).some((one) => folders.has(one));
      return { versions: versions.filter(isAsked), incomplete: undefined };
    },
  };
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** A path and the folders that it is in. */
function pathsAbove(path: string): string[] {
  const names = path.split('/');
  return names.map((_, i) => names.slice(0, i + 1).join('/'));
}
