/** Webhooks as Gitea sends them; the bodies are cut to what is read. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { forgejoWebhooks } from '../../../../pipeline/forge/forgejo/webhook.ts';

const SECRET = 'between friends';
const [BEFORE, AFTER] = ['b'.repeat(40), 'a'.repeat(40)];
const PUSH = { ref: 'refs/heads/main', before: BEFORE, after: AFTER, repository: { id: 3 } };

const STATUS = { sha: AFTER, repository: { id: 3 } };
const PULL = { repository: { id: 3 }, pull_request: { number: 7, updated_at: '2026-01-01T00:00:00Z' } };

function signatureOf(text: string, secret = SECRET): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

test.each([
  ["Gitea's header", { 'x-gitea-signature': signatureOf('text') }, true],
  ["Forgejo's header", { 'x-forgejo-signature': signatureOf('text') }, true],
  ['of another text', { 'x-gitea-signature': signatureOf('other') }, false],
  ['with another secret', { 'x-gitea-signature': signatureOf('text', 'x') }, false],
  ['cut off', { 'x-gitea-signature': signatureOf('text').slice(0, 62) }, false],
  ['the older SHA-1', { 'x-hub-signature': createHmac('sha1', SECRET).update('text').digest('hex') }, false],
  ['absent', {}, false],
])('a signature: %s', async (_, headers, expected) => {
  expect(await forgejoWebhooks.isSigned('text', headers, SECRET)).toBe(expected);
});

test('an empty secret never matches', async () => {
  const headers = { 'x-gitea-signature': signatureOf('text', '') };
  expect(await forgejoWebhooks.isSigned('text', headers, '')).toBe(false);
});

test.each([
  [
    'push',
    PUSH,
    { kind: 'push', id: 3, ref: 'refs/heads/main', after: AFTER, before: BEFORE, deleted: false },
  ],
  ['push', { ...PUSH, before: '0'.repeat(40) }, { kind: 'push', before: undefined, deleted: false }],
  ['push', { ...PUSH, after: '0'.repeat(40) }, { kind: 'push', deleted: true }],
  ['push', { ...PUSH, after: '--help' }, undefined],
  ['push', { ...PUSH, repository: { id: '3' } }, undefined],
  ['push', [], undefined],
  ['status', { ...STATUS, context: 'portolan' }, { kind: 'status', id: 3, commit: AFTER }],
  ['status', { ...STATUS, context: 'ci' }, 'other'],
  ['status', { ...STATUS, context: 'portolan', sha: 'x' }, undefined],
  ['pull_request', { ...PULL, action: 'assigned' }, 'other'],
  ['pull_request', { ...PULL, action: 'label_updated' }, { kind: 'pull', number: 7 }],
  ['pull_request', { ...PULL, action: 'edited' }, { kind: 'pull', number: 7 }],
  ['issues', PUSH, 'other'],
  // Portolan's own reviews are comments: an event of them would have it check again and again.
  ['pull_request_comment', PUSH, 'other'],
])('a %s of %j', (event, body, expected) => {
  const read = forgejoWebhooks.eventOf({ 'x-gitea-event': event }, JSON.stringify(body));
  if (typeof expected === 'object') expect(read).toMatchObject(expected);
  else expect(read).toBe(expected);
});

test.each(['pull_request', 'pull_request_approved', 'pull_request_rejected'])(
  '%s names a pull request',
  (name) => {
    const body = { repository: { id: 3 }, pull_request: { number: 7, updated_at: '2026-01-01T00:00:00Z' } };
    expect(forgejoWebhooks.eventOf({ 'x-forgejo-event': name }, JSON.stringify(body))).toEqual({
      kind: 'pull',
      id: 3,
      number: 7,
      at: Date.UTC(2026, 0, 1),
    });
  },
);
