/**
 * Webhooks of GitLab. They carry a token that the webhook was given: nothing signs their text. What GitLab sends to an
 * external status check is signed and has no token; it says what the webhook says, so nothing follows from it.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import { isHold } from '../forge.ts';
import { isCommit, isSignedWith, pushedIn, type Webhooks } from '../webhook.ts';

type Json = Readonly<Record<string, unknown>>;

export const gitLabWebhooks: Webhooks = {
  isSigned: async (text, headers, secret) => {
    const token = headers['x-gitlab-token'];
    if (token === undefined) return isSignedWith(text, headers['x-gitlab-signature'], secret);
    // Digests are equally long, whatever was sent.
    return secret !== '' && timingSafeEqual(digestOf(token), digestOf(secret));
  },
  deliveryOf: (headers, { now }) => {
    // A captured text can be sent again with any key, and it has no time: it counts once an hour.
    if (headers['x-gitlab-token'] === undefined) return now.toISOString().slice(0, 'YYYY-MM-DDTHH'.length);
    // Two approvals, with a withdrawal between them, have the same text; a delivery that is sent again has the same key.
    return headers['idempotency-key'] ?? headers['x-gitlab-event-uuid'] ?? '';
  },
  eventOf: (headers, text) => {
    const name = headers['x-gitlab-event'];
    if (name !== 'Push Hook' && name !== 'Merge Request Hook' && name !== 'Pipeline Hook') return 'other';
    const value = parsedJson(text);
    if (!isObject(value) || !isObject(value['project'])) return undefined;
    const { id } = value['project'];
    if (typeof id !== 'number') return undefined;
    // An approval does not change the merge request's update time, so that time is not the event's.
    if (name === 'Merge Request Hook') {
      const about = value['object_attributes'];
      if (!isObject(about) || typeof about['iid'] !== 'number') return undefined;
      if (!canChangeResult(about, value['changes'])) return 'other';
      const { iid: number, oldrev: previous } = about;
      return {
        kind: 'pull',
        id,
        at: undefined,
        number,
        previousHead: isCommit(previous) ? previous : undefined,
      };
    }
    if (name === 'Pipeline Hook') {
      const [about, merge] = [value['object_attributes'], value['merge_request']];
      // A pipeline that begins has no status of ours yet. Only it changes to "pending": a status that is added to one does not.
      if (!isObject(about) || about['status'] !== 'pending' || !isObject(merge)) return 'other';
      const number = merge['iid'];
      return typeof number === 'number' ? { kind: 'pull', id, at: undefined, number } : undefined;
    }
    const pushed = pushedIn(value);
    return pushed && { kind: 'push', id, at: undefined, ...pushed };
  },
};

/** Changes of a merge request that do not change the result. The title is not among them: it marks a draft. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...['description', 'updated_at', 'updated_by_id', 'last_edited_at', 'last_edited_by_id'],
  ...['assignees', 'reviewers', 'milestone_id', 'time_estimate', 'total_time_spent', 'discussion_locked'],
]);

/** False only for an update that lists its changes, if all of them are harmless. */
function canChangeResult({ action, oldrev }: Json, changes: unknown): boolean {
  if (action !== 'update' || oldrev !== undefined || !isObject(changes)) return true;
  const names = Object.keys(changes);
  return names.length === 0 || names.some((name) => !isHarmless(name, changes[name]));
}

/** Of labels only those that hold a merge request change the result. */
function isHarmless(name: string, change: unknown): boolean {
  if (name !== 'labels') return HARMLESS.has(name);
  const { previous, current } = isObject(change) ? change : {};
  const [before, after] = [holdsIn(previous), holdsIn(current)];
  return before !== undefined && before === after;
}

/** The labels that hold a merge request, as one text that can be compared; undefined for what is not a list of labels. */
function holdsIn(labels: unknown): string | undefined {
  if (!Array.isArray(labels)) return undefined;
  const titles = labels.map((label: unknown) => (isObject(label) ? label['title'] : undefined));
  if (!titles.every((title) => typeof title === 'string')) return undefined;
  return JSON.stringify(titles.filter(isHold).sort());
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
