/** The result of a head becomes its status, unless something has changed since it was checked. */
import type { CheckReport } from '../check/report.ts';
import type { GateForge } from './forge.ts';
import { freshnessOf } from './freshness.ts';
import { CHECKING, pendingStatus, statusOf } from './status.ts';

/**
 * What is said elsewhere of a result that is not the status, because the forge takes none: an older status may stand, and it
 * must not be merged by that.
 *
 * @param why in one line
 */
export function withoutStatus(report: CheckReport, why: string): CheckReport {
  const wait = `the status portolan could not be set, so it may be of an older check: ${why}`;
  return { ...report, headline: wait, waitsFor: [wait, ...report.waitsFor] };
}

/** How often a head is checked again because something changes while it is checked. */
const TRIES = 3;

/**
 * Sets the status of a head: the worst result of its pull requests. What the result was made from is read again before, and
 * after: if it has changed, the status is pending, and the head is checked again. Whatever changes later has an event, whose
 * run sets the status to pending after this one.
 *
 * @param reports at least one, all of one head
 * @param again checks the head once more
 * @returns the reports that hold; none where the head is no longer that of a pull request, or never stays the same
 * @throws PipelineError as the forge
 */
export async function sayStatus(
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
