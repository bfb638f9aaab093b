/** Sets the result of a head as its status, unless something has changed since the check. */
import type { CheckReport } from '../check/report.ts';
import type { GateForge } from './forge.ts';
import { freshnessOf } from './freshness.ts';
import { CHECKING, pendingStatus, statusOf } from './status.ts';

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
  for (let tries = 0; tries < TRIES && current.length > 0; tries++) {
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
    current = await again();
  }
  if (current.length > 0) {
    const { commit, pulls } = statusOf(current);
    await forge.postStatus(pendingStatus(commit, pulls, 'it changes faster than it can be checked'));
  }
  return [];
}
