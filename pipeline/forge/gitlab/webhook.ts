/**
 * Webhooks of GitLab. They carry a token that the webhook was given: nothing signs their text. What GitLab sends to an
 * external status check is signed and has no token; it says what the webhook says, so nothing follows from it.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../json.ts';
import { isSignedWith, pushedIn, type Webhooks } from '../webhook.ts';

export const gitLabWebhooks: Webhooks = {
  isSigned: async (text, headers, secret) => {
    const token = headers['x-gitlab-token'];
    if (token === undefined) return isSignedWith(text, headers['x-gitlab-signature'], secret);
    // Digests are equally long, whatever was sent.
    return secret !== '' && timingSafeEqual(digestOf(token), digestOf(secret));
  },
  // Two approvals, with a withdrawal between them, have the same text; a delivery that is sent again has the same key.
  deliveryOf: (headers) => headers['idempotency-key'] ?? headers['x-gitlab-event-uuid'] ?? '',
  eventOf: (headers, text) => {
    const name = headers['x-gitlab-event'];
    if (name !== 'Push Hook' && name !== 'Merge Request Hook' && name !== 'Pipeline Hook') return 'other';
    const value = parsedJson(text);
    if (!isObject(value) || !isObject(value['project'])) return undefined;
    const { id } = value['project'];
    if (typeof id !== 'number') return undefined;
    // An approval does not change when a merge request was updated: that time says nothing of the event's age.
    if (name === 'Merge Request Hook') {
      const about = value['object_attributes'];
      const number = isObject(about) ? about['iid'] : undefined;
      return typeof number === 'number' ? { kind: 'pull', id, at: undefined, number } : undefined;
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

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
