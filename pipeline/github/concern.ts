/** Whether an event of a pull request can change the result of its check. */
import { isObject } from '../../catalog/go/shape.ts';
import { isHold } from '../forge/forge.ts';
import { isCommit } from '../forge/webhook.ts';

type Json = Readonly<Record<string, unknown>>;

/** Actions of `pull_request` that do not change the result. An action that GitHub adds later causes a check. */
const HARMLESS: ReadonlySet<unknown> = new Set([
  ...['assigned', 'unassigned', 'milestoned', 'demilestoned', 'locked', 'unlocked'],
  ...['review_requested', 'review_request_removed'],
  ...['auto_merge_enabled', 'auto_merge_disabled', 'enqueued', 'dequeued'],
]);

/** @param payload of `pull_request`, `pull_request_target` or `pull_request_review` */
export function canChangeResult(payload: Json): boolean {
  const { action, label, changes, review } = payload;
  if (isObject(review)) return action !== 'edited' && !isComment(review);
  if (action === 'labeled' || action === 'unlabeled') return !isObject(label) || isHoldLabel(label);
  // Of an edit, only a new base branch matters. Drafts have actions of their own.
  if (action === 'edited') return !isObject(changes) || 'base' in changes;
  return !HARMLESS.has(action);
}

/** A review that only comments decides nothing. */
function isComment({ state }: Json): boolean {
  return typeof state === 'string' && state.toLowerCase() === 'commented';
}

function isHoldLabel({ name }: Json): boolean {
  return typeof name !== 'string' || isHold(name);
}

/** Id of the head that a push took the pull request away from; others may still have it. */
export function headBefore({ action, before }: Json): string | undefined {
  return action === 'synchronize' && isCommit(before) ? before : undefined;
}
