/** The one status of a commit: the worst result of all open pull requests that have it as their head. */
import { type CheckReport, headlineOf, type ReportState, stateOf } from '../check/report.ts';
import { plainText } from '../text.ts';
import type { GateForge, HeadStatus, SetStatus } from './forge.ts';
import { freshnessOf } from './freshness.ts';

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
  return { commit: worst.head, state: stateOf(worst), description: plainText(description), pulls };
}

function nameOf({ request }: CheckReport): string {
  return request ? `#${request.number} to ${request.branch}` : 'merge group';
}

/** The description of the status while a check runs. */
export const CHECKING = 'the check is running';

/** The status while nothing else is known. @param why one line: what it waits for */
export function pendingStatus(commit: string, pulls: readonly number[], why: string): HeadStatus {
  return { commit, state: 'pending', description: plainText(why), pulls };
}

// A `portolan` status that another account set: anyone who may write statuses can.

/** How often Portolan replaces foreign statuses of a commit. After that it stops competing with the other account. */
const MOST = 10;

/**
 * Whether somebody else has set the newest status of a commit to something else than Portolan did. Where it is not known who
 * set it, or where that happens again and again, it stays.
 *
 * @throws PipelineError as the forge
 */
export async function isForeign(
  forge: Pick<GateForge, 'readStatuses' | 'readSelf'>,
  commit: string,
): Promise<boolean> {
  const [newest, ...older] = await forge.readStatuses(commit);
  const self = await forge.readSelf?.();
  if (!newest || self === undefined || newest.by === self) return false;
  const own = older.find(({ by }) => by === self);
  return own?.state !== newest.state && changesBy(self, older) < MOST;
}

/** How often a status that somebody else set was followed by an own one; one of an unknown account counts as own. */
function changesBy(self: number, newestFirst: readonly SetStatus[]): number {
  return newestFirst.filter(({ by }, i) => by === self && (newestFirst[i + 1]?.by ?? self) !== self).length;
}

// Sets the result of a head as its status, unless something has changed since the check.

/**
 * The report to post if the forge rejects the status. An outdated status may still allow the merge, so this report waits.
 *
 * @param why the forge rejects it, in one line
 */
export function withoutStatus(report: CheckReport, why: string): CheckReport {
  const wait = `the status portolan could not be set, so it may be of an older check: ${why}`;
  return { ...report, headline: wait, waitsFor: [wait, ...report.waitsFor] };
}

/** How often a head is checked if something changes during each check. */
const TRIES = 3;

/**
 * Sets the status of a head: the worst result of its pull requests. The data behind the result is read again before and after
 * that: if it has changed, the status becomes pending, and the head is checked again. A later change has an event of its own,
 * whose run sets the status to pending.
 *
 * @param reports at least one, all of one head
 * @param again checks the head once more
 * @returns the reports that are up to date; none if no pull request has this head any more, or if each check found a change
 * @throws PipelineError as the forge
 */
export async function setStatus(
  forge: GateForge,
  reports: readonly CheckReport[],
  again: () => Promise<readonly CheckReport[]>,
): Promise<readonly CheckReport[]> {
  let current = reports;
  for (let tries = 1; current.length > 0; tries++) {
    const status = statusOf(current);
    const before = await freshnessOf(forge, status.commit, current);
    if (before.kind === 'gone') return [];
    if (before.kind === 'current') {
      await forge.postStatus(status);
      // A result that blocks nothing that should pass, and lets nothing pass.
      if (status.state === 'pending') return current;
      const after = await freshnessOf(forge, status.commit, current);
      if (after.kind === 'current') return current;
      await forge.postStatus(pendingStatus(status.commit, status.pulls, CHECKING));
      if (after.kind === 'gone') return [];
    }
    if (tries === TRIES) {
      await forge.postStatus(
        pendingStatus(status.commit, status.pulls, 'it changes faster than it can be checked'),
      );
      return [];
    }
    current = await again();
  }
  return [];
}
