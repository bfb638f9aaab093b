/** How often commands may start checks, also where their comments are gone. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mayAsk, mayCheck } from '../../../pipeline/github/commands.ts';
import { unpaced } from '../../fakes/github/client.ts';
import { type Hub, openHub } from '../../fakes/hub.ts';

let hub: Hub;
beforeEach(async () => {
  hub = await openHub();
});
afterEach(() => hub.close());

const NOW = new Date('2026-01-01T12:00:00Z');
const HEAD = 'a'.repeat(40);

test.each([
  ['19 checks within the hour', 19, {}, true],
  ['20 checks within the hour', 20, {}, false],
  ['20 checks before', 20, { created_at: '2026-01-01T10:59:59Z' }, true],
  ['20 statuses of somebody else', 20, { context: 'ci' }, true],
  ['20 results', 20, { state: 'success' }, true],
  ['20 checks of another head', 20, { sha: 'b'.repeat(40) }, true],
])('58: a command after %s, of which no comment is left: %s', async (_, count, more, may) => {
  const begun = { sha: HEAD, context: 'portolan', state: 'pending', created_at: '2026-01-01T11:30:00Z' };
  for (let i = 0; i < count; i++) hub.forge.statuses.push({ ...begun, ...more });
  const forge = { github: unpaced(hub.forge), repository: { owner: 'example', repo: 'catalogs' } };
  expect(await mayCheck(forge, HEAD, NOW)).toBe(may);
});

test('58: commands behind a page of comments start nothing, and neither do those that statuses of others hide', async () => {
  const forge = { github: unpaced(hub.forge), repository: { owner: 'example', repo: 'catalogs' } };
  const at = '2026-01-01T11:30:00Z';
  const comments = (count: number, body: string) =>
    Array.from({ length: count }, (_, id) => ({ id, by: 'mallory', body, at }));
  hub.forge.comments.set(7, comments(99, 'thanks'));
  expect(await mayAsk(forge, 7, NOW)).toBe(true);
  hub.forge.comments.set(7, [...comments(100, 'thanks'), ...comments(500, '/recheck')]);
  expect(await mayAsk(forge, 7, NOW)).toBe(false);
  for (let i = 0; i < 20; i++)
    hub.forge.statuses.push({ sha: HEAD, context: 'portolan', state: 'pending', created_at: at });
  for (let i = 0; i < 150; i++)
    hub.forge.statuses.push({ sha: HEAD, context: `ci-${i}`, state: 'success', created_at: at });
  expect(await mayCheck(forge, HEAD, NOW)).toBe(false);
});

test.each([
  ['/recheck', 6, '2026-01-01T11:30:00Z', true],
  ['/recheck', 7, '2026-01-01T11:30:00Z', false],
  ['/who', 7, '2026-01-01T11:30:00Z', false],
  ['/explain graph/cycle', 7, '2026-01-01T11:00:00Z', false],
  ['/explain graph/cycle', 7, '2026-01-01T10:59:59Z', true],
  ['comment /recheck to check again', 7, '2026-01-01T11:30:00Z', true],
  ['/who knows', 7, '2026-01-01T11:30:00Z', true],
])('58: a command after comments %j, %i of them at %s: %s', async (body, count, at, may) => {
  const forge = { github: unpaced(hub.forge), repository: { owner: 'example', repo: 'catalogs' } };
  hub.forge.comments.set(
    7,
    Array.from({ length: count }, (_, id) => ({ id, by: 'mallory', body, at })),
  );
  expect(await mayAsk(forge, 7, NOW)).toBe(may);
});
