/** The one status of a commit: the worst result of all open pull requests that have it as their head. */
import { type CheckReport, headlineOf, type ReportState, stateOf } from '../check/report.ts';
import { plain } from '../text.ts';
import type { HeadStatus } from './forge.ts';

const RANK: Readonly<Record<ReportState, number>> = { failure: 0, pending: 1, success: 2 };

/** The worst of several reports of one head. */
export function worstOf(reports: readonly CheckReport[]): CheckReport | undefined {
  return reports.toSorted((a, b) => RANK[stateOf(a)] - RANK[stateOf(b)])[0];
}

/**
 * The status of a head. Where several pull requests have it, the worst result counts, and the others are named: whoever
 * reads it must find the one to correct or close.
 *
 * @param reports at least one, all of the same head
 */
export function statusOf(reports: readonly CheckReport[]): HeadStatus {
  const worst = worstOf(reports);
  if (!worst) throw new Error('a status needs a report');
  const pulls = reports.flatMap(({ request }) => request?.number ?? []);
  const others = reports.filter((one) => one !== worst);
  const description =
    others.length === 0
      ? headlineOf(worst)
      : `${nameOf(worst)} (same commit: ${others.map(nameOf).join(', ')}): ${headlineOf(worst)}`;
  return { commit: worst.head, state: stateOf(worst), description: plain(description), pulls };
}

function nameOf({ request }: CheckReport): string {
  return request ? `#${request.number} to ${request.branch}` : 'merge group';
}

/** The description of the status while a check runs. */
export const CHECKING = 'the check is running';

/** The status while nothing else is known. @param why one line: what it waits for */
export function pendingStatus(commit: string, pulls: readonly number[], why: string): HeadStatus {
  return { commit, state: 'pending', description: plain(why), pulls };
}
