/** GitHub's webhooks. */
import { Webhooks as Signatures } from '@octokit/webhooks';
import { isObject } from '../../catalog/go/shape.ts';
import { pullIn, pushedIn, type Webhooks } from '../forge/webhook.ts';
import { parsedJson } from '../json.ts';

/** Events after which a pull request is checked again. */
const PULLS: ReadonlySet<string> = new Set(['pull_request', 'pull_request_review']);

export const gitHubWebhooks: Webhooks = {
  isSigned: async (text, headers, secret) => {
    const signature = headers['x-hub-signature-256'] ?? '';
    if (!/^sha256=[0-9a-f]{64}$/.test(signature) || secret === '') return false;
    return new Signatures({ secret }).verify(text, signature);
  },
  eventOf: (headers, text) => {
    const name = headers['x-github-event'];
    if (name === undefined || (name !== 'push' && !PULLS.has(name))) return 'other';
    const value = parsedJson(text);
    if (!isObject(value) || !isObject(value['repository'])) return undefined;
    const { id, pushed_at: pushedAt } = value['repository'];
    if (typeof id !== 'number') return undefined;
    if (name !== 'push') {
      const pull = pullIn(value['pull_request']);
      return pull && { kind: 'pull', id, ...pull };
    }
    const pushed = pushedIn(value);
    // Seconds in pushes, a date in every other event.
    if (!pushed || typeof pushedAt !== 'number') return undefined;
    return { kind: 'push', id, at: pushedAt * 1000, ...pushed };
  },
};
