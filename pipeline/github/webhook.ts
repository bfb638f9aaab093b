/** GitHub's webhooks. */
import { Webhooks as Signatures } from '@octokit/webhooks';
import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import { isHold } from '../forge/forge.ts';
import { STATUS_CONTEXT } from '../forge/marks.ts';
import { type ForgeEvent, isCommit, pullIn, pushedIn, type Webhooks } from '../forge/webhook.ts';

type Json = Readonly<Record<string, unknown>>;

/** Parses each kind of event. @returns undefined for a payload that does not match GitHub's format */
const EVENTS: Readonly<Record<string, (value: Json) => ForgeEvent | 'other' | undefined>> = {
  push: pushEvent,
  pull_request: pullEvent,
  pull_request_review: pullEvent,
  merge_group: groupEvent,
  check_run: (value) => endedEvent(value, 'check_run'),
  workflow_run: (value) => endedEvent(value, 'workflow_run'),
  status: statusEvent,
  membership: peopleEvent,
  organization: peopleEvent,
  team: peopleEvent,
};

export const gitHubWebhooks: Webhooks = {
  isSigned: async (text, headers, secret) => {
    const signature = headers['x-hub-signature-256'] ?? '';
    if (!/^sha256=[0-9a-f]{64}$/.test(signature) || secret === '') return false;
    return new Signatures({ secret }).verify(text, signature);
  },
  // An event without a time, such as the removal of an account from a team, has the same text if it happens again.
  deliveryOf: (headers, { event }) => (event.at === undefined ? (headers['x-github-delivery'] ?? '') : ''),
  eventOf: (headers, text) => {
    const name = headers['x-github-event'];
    const read = name !== undefined && Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined;
    if (!read) return 'other';
    const value = parsedJson(text);
    return isObject(value) ? read(value) : undefined;
  },
};

function repositoryId({ repository }: Json): number | undefined {
  const id = isObject(repository) ? repository['id'] : undefined;
  return typeof id === 'number' ? id : undefined;
}

/** The event of a pull request; `other` if it cannot change a result, undefined for an invalid one. */
function pullEvent(value: Json): ForgeEvent | 'other' | undefined {
  const [id, pull] = [repositoryId(value), pullIn(value['pull_request'])];
  if (id === undefined || !pull) return undefined;
  return canChangeResult(value) ? { kind: 'pull', id, ...pull, previousHead: headBefore(value) } : 'other';
}

/** That a status `portolan` was set, maybe by somebody else; `other` for statuses of other names. */
function statusEvent(value: Json): ForgeEvent | 'other' | undefined {
  const { context, sha: commit, updated_at: updated } = value;
  if (context !== STATUS_CONTEXT) return 'other';
  const id = repositoryId(value);
  return id === undefined || !isCommit(commit)
    ? undefined
    : { kind: 'status', id, at: timeOf(updated), commit };
}

/** The event of a push; undefined for an invalid one. */
function pushEvent(value: Json): ForgeEvent | undefined {
  const [id, pushed] = [repositoryId(value), pushedIn(value)];
  const { repository } = value;
  const at = isObject(repository) ? repository['pushed_at'] : undefined;
  // Seconds in pushes, a date in every other event.
  if (id === undefined || !pushed || typeof at !== 'number') return undefined;
  return { kind: 'push', id, at: at * 1000, ...pushed };
}

/** The event of a merge group; `other` for actions without a check, undefined for an invalid one. */
function groupEvent(value: Json): ForgeEvent | 'other' | undefined {
  if (value['action'] !== 'checks_requested') return 'other';
  const [id, group] = [repositoryId(value), value['merge_group']];
  if (id === undefined || !isObject(group)) return undefined;
  const { base_sha: base, head_sha: head, base_ref: ref } = group;
  const [, branch] = typeof ref === 'string' ? (/^refs\/heads\/(.+)$/.exec(ref) ?? []) : [];
  if (!isCommit(base) || !isCommit(head) || branch === undefined) return undefined;
  const { head_commit: commit } = group;
  return {
    kind: 'group',
    id,
    at: timeOf(isObject(commit) ? commit['timestamp'] : undefined),
    base,
    head,
    branch,
  };
}

/** Portolan's workflows, as `portolan setup` and its pages call them, and the check run with the findings. */
const OWN_CHECKS = /^portolan(?:-(?:drift|monitor|publish|review)| findings.*)?$/;

/** The end of a check of others; those of our own follow from a check of the gate. */
function endedEvent(value: Json, kind: 'check_run' | 'workflow_run'): ForgeEvent | 'other' | undefined {
  if (value['action'] !== 'completed') return 'other';
  const [id, about] = [repositoryId(value), value[kind]];
  if (id === undefined || !isObject(about)) return undefined;
  const { name, head_sha: commit, completed_at: ended, updated_at: updated } = about;
  if (typeof name === 'string' && OWN_CHECKS.test(name)) return 'other';
  return isCommit(commit) ? { kind: 'commit', id, at: timeOf(ended ?? updated), commit } : undefined;
}

function peopleEvent({ organization }: Json): ForgeEvent | undefined {
  const owner = isObject(organization) ? organization['login'] : undefined;
  return typeof owner === 'string' ? { kind: 'people', at: undefined, owner } : undefined;
}

/** In ms since 1970; undefined for what is not a time. */
function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

// Whether an event of a pull request can change the result of its check.

/** Actions of `pull_request` that do not change the result. An action that GitHub adds later causes a check. */
const HARMLESS: ReadonlySet<unknown> = new Set([
  ...['assigned', 'unassigned', 'milestoned', 'demilestoned', 'locked', 'unlocked'],
  ...['review_requested', 'review_request_removed'],
  ...['auto_merge_enabled', 'auto_merge_disabled', 'enqueued', 'dequeued'],
]);

/**
 * Whether an event of a pull request can change the result of its check.
 *
 * @param payload of `pull_request`, `pull_request_target` or `pull_request_review`
 */
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
