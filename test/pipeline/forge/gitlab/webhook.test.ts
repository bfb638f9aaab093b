/** Webhooks as GitLab documents them; the bodies are cut to what is read. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { gitLabWebhooks } from '../../../../pipeline/forge/gitlab/webhook.ts';

const [BEFORE, AFTER] = ['b'.repeat(40), 'a'.repeat(40)];
const PUSH = { ref: 'refs/heads/main', before: BEFORE, after: AFTER, project: { id: 3 } };
const MERGE = {
  project: { id: 3 },
  object_attributes: { iid: 7, action: 'approval', updated_at: '2013-12-03' },
};
const PIPELINE = { ...MERGE, object_attributes: { status: 'pending' }, merge_request: { iid: 7 } };

const changed = (more: object, changes: object) => ({
  project: { id: 3 },
  object_attributes: { iid: 7, action: 'update', ...more },
  changes,
});
const labelled = (previous: readonly string[], current: readonly string[]) => {
  const of = (titles: readonly string[]) => titles.map((title) => ({ title }));
  return changed({}, { labels: { previous: of(previous), current: of(current) } });
};

test.each([
  ['the secret', 'between friends', true],
  ['another one', 'between friend', false],
  ['none', undefined, false],
  ['an empty one', '', false],
])('a token: %s', async (_, token, expected) => {
  const headers = { 'x-gitlab-token': token };
  expect(await gitLabWebhooks.isSigned('text', headers, 'between friends')).toBe(expected);
});

test('what an external status check is sent is signed, and asks for nothing', async () => {
  const text = JSON.stringify({ object_kind: 'merge_request', ...MERGE });
  const headers = {
    'x-gitlab-signature': createHmac('sha256', 'between friends').update(text).digest('hex'),
  };
  expect(await gitLabWebhooks.isSigned(text, headers, 'between friends')).toBe(true);
  expect(await gitLabWebhooks.isSigned(`${text} `, headers, 'between friends')).toBe(false);
  expect(await gitLabWebhooks.isSigned(text, { ...headers, 'x-gitlab-token': 'x' }, 'between friends')).toBe(
    false,
  );
  expect(gitLabWebhooks.eventOf(headers, text)).toBe('other');
});

test('an empty secret never matches', async () => {
  for (const token of ['', undefined])
    expect(await gitLabWebhooks.isSigned('text', { 'x-gitlab-token': token }, '')).toBe(false);
});

test.each([
  ['Push Hook', PUSH, { kind: 'push', id: 3, ref: 'refs/heads/main', after: AFTER, deleted: false }],
  ['Push Hook', { ...PUSH, before: '0'.repeat(40) }, { before: undefined, deleted: false }],
  ['Push Hook', { ...PUSH, after: '0'.repeat(40) }, { kind: 'push', deleted: true }],
  ['Push Hook', { ...PUSH, after: '--help' }, undefined],
  ['Push Hook', { ...PUSH, project: { id: '3' } }, undefined],
  ['Push Hook', [], undefined],
  // The merge request may have been updated long ago: an approval of today is not stale.
  ['Merge Request Hook', MERGE, { kind: 'pull', id: 3, number: 7, at: undefined }],
  ['Merge Request Hook', { project: { id: 3 } }, undefined],
  ['Merge Request Hook', changed({ oldrev: BEFORE }, {}), { kind: 'pull', number: 7, previousHead: BEFORE }],
  ['Merge Request Hook', changed({}, { description: {}, updated_at: {} }), 'other'],
  ['Merge Request Hook', changed({}, { title: {} }), { kind: 'pull', number: 7 }],
  ['Merge Request Hook', changed({}, { target_branch: {}, description: {} }), { kind: 'pull', number: 7 }],
  ['Merge Request Hook', changed({}, {}), { kind: 'pull', number: 7 }],
  ['Merge Request Hook', labelled(['hold'], ['docs', 'hold']), 'other'],
  ['Merge Request Hook', labelled(['docs'], ['hold']), { kind: 'pull', number: 7 }],
  ['Merge Request Hook', changed({}, { labels: { current: [] } }), { kind: 'pull', number: 7 }],
  // A pipeline for a merge request that begins.
  ['Pipeline Hook', PIPELINE, { kind: 'pull', id: 3, number: 7, at: undefined }],
  ['Pipeline Hook', { ...PIPELINE, object_attributes: { status: 'running' } }, 'other'],
  ['Pipeline Hook', { ...PIPELINE, merge_request: null }, 'other'],
  ['Pipeline Hook', { ...PIPELINE, merge_request: { iid: '7' } }, undefined],
  // Portolan's own note is one.
  ['Note Hook', MERGE, 'other'],
  ['Tag Push Hook', PUSH, 'other'],
])('a %s of %j', (event, body, expected) => {
  const read = gitLabWebhooks.eventOf({ 'x-gitlab-event': event }, JSON.stringify(body));
  if (typeof expected === 'object') expect(read).toMatchObject(expected);
  else expect(read).toBe(expected);
});
