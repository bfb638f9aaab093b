/** A function dies at any line; its message comes again: the end is that of the undisturbed run. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { PushMessage } from '../../../pipeline/delivery/message.ts';
import { deliver } from '../../fakes/delivery.ts';
import { type SampleRepository, sampleRepository } from '../../fakes/sample.ts';

let sample: SampleRepository;
vi.setConfig({ testTimeout: 60_000 });
beforeAll(() => {
  const without = (name: string) => [`catalogs/v4.20/${name}/catalog.yaml`, null] as const;
  sample = sampleRepository(Object.fromEntries(['ferry-operator', 'lighthouse-operator'].map(without)));
});
afterAll(() => sample.remove());

function push(commit: string, branch = 'main'): PushMessage {
  return { v: 1, kind: 'push', repository: 'sea/catalogs', branch, commit };
}

test('a death after the claim, before the tag moves', async () => {
  const run = { directory: sample.directory, pushes: [push(sample.base)] };
  const undisturbed = await deliver(run);
  expect(undisturbed.aside).toBe(0);
  const at = undisturbed.calls.indexOf('fence.replace') + 1;
  const disturbed = await deliver({ ...run, fate: (call) => (call === at ? 'after' : undefined) });
  expect(disturbed.state).toEqual(undisturbed.state);
});

test('pushes twice, late and out of order end as those in order', async () => {
  const next = sample.commit({ 'README.md': 'words' }, { parents: [sample.addition], branch: 'release' });
  const inOrder = [sample.base, sample.addition, next].map((commit) => push(commit, 'release'));
  const [one, two, three] = inOrder as [PushMessage, PushMessage, PushMessage];
  const expected = await deliver({ directory: sample.directory, pushes: inOrder });
  const shuffled = await deliver({ directory: sample.directory, pushes: [three, one, one, three, two, one] });
  expect(shuffled.state).toMatchObject({ tags: (expected.state as { tags: object }).tags });
});

test('a commit that the branch never held is published by nobody', async () => {
  const foreign = await deliver({ directory: sample.directory, pushes: [push(sample.stranding)] });
  expect(foreign.state).toEqual({ texts: {}, tags: {}, statuses: [], deployments: [] });
});

test('a newer commit with errors is said to be merged, not published; the one before it is', async () => {
  const broken = sample.commit(
    { 'catalogs/v4.20/harbour-operator/catalog.yaml': 'schema: olm.package\n' },
    { parents: [sample.base], branch: 'broken' },
  );
  const pushes = [push(sample.base, 'broken'), push(broken, 'broken')];
  const { state } = await deliver({ directory: sample.directory, pushes });
  const { statuses, tags } = state as { statuses: string[]; tags: object };
  expect(tags).toEqual({});
  expect(statuses.join('\n')).toContain('merged, not published');
});

test('GitHub not taking statuses keeps no image back', async () => {
  const run = { directory: sample.directory, pushes: [push(sample.base)] };
  const { state } = await deliver({ ...run, denies: true });
  const { tags, statuses } = state as { tags: object; statuses: string[] };
  expect(Object.keys(tags)).toEqual(['v4.20']);
  expect(statuses).toEqual([]);
});
