/** Webhooks of Forgejo and Gitea. */
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import { STATUS_CONTEXT } from '../marks.ts';
import { isCommit, isSignedWith, pullIn, pushedIn, type Webhooks } from '../webhook.ts';

/** Events after which a pull request is checked again. Portolan's own comments are none of them. */
const PULLS: ReadonlySet<string> = new Set([
  'pull_request',
  'pull_request_approved',
  'pull_request_rejected',
]);

/** Actions that do not change the result of a check. Labels are absent: some versions do not name the changed labels. */
const HARMLESS: ReadonlySet<unknown> = new Set([
  ...['assigned', 'unassigned', 'milestoned', 'demilestoned'],
  ...['review_requested', 'review_request_removed'],
]);

export const forgejoWebhooks: Webhooks = {
  // Both forges send Gitea's header.
  isSigned: async (text, headers, secret) =>
    isSignedWith(text, headers['x-forgejo-signature'] ?? headers['x-gitea-signature'], secret),
  deliveryOf: (headers, { event }) =>
    event.at === undefined ? (headers['x-forgejo-delivery'] ?? headers['x-gitea-delivery'] ?? '') : '',
  eventOf: (headers, text) => {
    const name = headers['x-forgejo-event'] ?? headers['x-gitea-event'];
    if (name === undefined || (name !== 'push' && name !== 'status' && !PULLS.has(name))) return 'other';
    const value = parsedJson(text);
    if (!isObject(value) || !isObject(value['repository'])) return undefined;
    const { id } = value['repository'];
    if (typeof id !== 'number') return undefined;
    if (name === 'status') {
      const { context, sha: commit } = value;
      if (context !== STATUS_CONTEXT) return 'other';
      return isCommit(commit) ? { kind: 'status', id, at: undefined, commit } : undefined;
    }
    if (name !== 'push') {
      const pull = pullIn(value['pull_request']);
      if (!pull) return undefined;
      return HARMLESS.has(value['action']) ? 'other' : { kind: 'pull', id, ...pull };
    }
    const pushed = pushedIn(value);
    // No time of a push is signed. A push that is sent again has the branch looked at again, and moves nothing back.
    return pushed && { kind: 'push', id, at: undefined, ...pushed };
  },
};
