/**
 * The past of a repository of catalogs, judged as if each merge were a pull request
 * today: which of them stranded whom.
 */
import type { Finding } from '../../catalog/finding.ts';
import { PipelineError } from '../error.ts';
import { mergedCommits } from '../git/merges.ts';
import type { Repository } from '../git/repository.ts';
import { check } from './check.ts';

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
  /** Told before each merge is judged: how many are done, and of how many. */
  readonly progress?: (done: number, all: number) => void;
}

/** Judges every merge that changed catalogs. */
export async function history(repository: Repository, request: HistoryRequest): Promise<HistoryAudit> {
  const { head, paths, since = '', progress } = request;
  const [tip = ''] = await repository.resolve([head]);
  const merges = (await mergedCommits(repository, tip, paths)).filter(({ date }) => date >= since);
  const harmful: HarmfulMerge[] = [];
  const unchecked: { what: string; why: string }[] = repository.shallow
    ? [{ what: 'merges before those', why: 'the clone is shallow: git fetch --unshallow' }]
    : [];
  for (const [i, { id, before, date, subject }] of merges.entries()) {
    progress?.(i, merges.length);
    try {
      const asked = { base: before, head: id, ancestor: before, today: date, definitions: () => undefined };
      const report = await check(repository, asked);
      const findings = report.findings.filter(({ rule, severity }) => severity === 'error' && HARM.has(rule));
      if (findings.length > 0) harmful.unshift({ commit: id, date, subject, findings });
    } catch (error) {
      if (!(error instanceof PipelineError)) throw error;
      unchecked.push({ what: `${date} ${subject}`, why: error.message });
    }
  }
  return { merges: merges.length, harmful, unchecked };
}
