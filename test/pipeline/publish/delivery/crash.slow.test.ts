/** A function dies at any line; its message comes again: the end is that of the undisturbed run. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { POLICY_PATH } from '../../../../pipeline/policy/read-policy.ts';
import type { CommitStatus } from '../../../../pipeline/ports.ts';
import type { CatalogMessage, PushMessage } from '../../../../pipeline/publish/delivery/message.ts';
import { type Delivered, deliver } from '../../../fakes/delivery.ts';
import type { Files } from '../../../fakes/repository.ts';
import { harbourRepository, type SampleRepository, sampleFiles } from '../../../fakes/sample.ts';

let sample: SampleRepository;
beforeAll(() => {
  sample = harbourRepository();
});
afterAll(() => sample.remove());

function push(commit: string, branch = 'main'): PushMessage {
  return { v: 1, kind: 'push', repository: 'sea/catalogs', branch, commit };
}

/** The sample's policy with one more line for each image. */
function policyWith(line: string): string {
  return (sampleFiles()[POLICY_PATH] ?? '').replaceAll(/^( *)image: .*$/gm, `$&\n$1${line}`);
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

const HARBOUR = 'catalogs/v4.20/harbour-operator/catalog.yaml';

/** What people see of commits, by id: of its catalog, then of the whole one. */
function statusesOf({ state }: Delivered): Record<string, string> {
  const { statuses } = state as { statuses: string[] };
  const read = statuses.map((text): CommitStatus => JSON.parse(text));
  const told: Record<string, string> = {};
  for (const { commit, state, description } of read) {
    told[commit] = [told[commit], `${state}: ${description}`].filter(Boolean).join('; ');
  }
  return told;
}

function tagsOf({ state }: Delivered): object {
  return (state as { tags: object }).tags;
}

/** The merges of a burst are all on the branch when the first push is handled. */
async function burst(changes: Files, branch: string): Promise<{ delivered: Delivered; tip: string }> {
  const tip = sample.commit(changes, { parents: [sample.addition], branch });
  const pushes = [push(sample.base), push(sample.addition, branch), push(tip, branch)];
  return { delivered: await deliver({ directory: sample.directory, pushes }), tip };
}

test('a newer commit with errors is said to be merged, not published; the one before it is', async () => {
  const { delivered, tip } = await burst({ [HARBOUR]: 'schema: olm.package\n' }, 'broken');
  const alone = await deliver({ directory: sample.directory, pushes: [push(sample.addition, 'addition')] });
  expect(tagsOf(delivered)).toEqual(tagsOf(alone));
  expect(statusesOf(delivered)).toMatchObject({
    [tip]: expect.stringContaining('failure: merged, not published: '),
    [sample.addition]: expect.stringContaining('success: published: sha256:'),
  });
  // What waits for people is not hidden by what was published behind it.
  const { texts } = delivered.state as { texts: Record<string, string> };
  const [last = ''] = Object.entries(texts).flatMap(([key, text]) => (key.startsWith('last/') ? [text] : []));
  expect(JSON.parse(last)).toMatchObject({ commit: tip, state: 'refused' });
  expect(delivered.aside).toBe(0);
});

test('a newest commit whose policy cannot be used is told so; the one before it is published', async () => {
  const { delivered, tip } = await burst({ [POLICY_PATH]: 'nonsense: [' }, 'without-policy');
  expect(statusesOf(delivered)).toMatchObject({
    [tip]: expect.stringContaining('failure: merged, not published: '),
    [sample.addition]: expect.stringContaining('success: published: sha256:'),
  });
});

test('a first commit whose policy cannot be used is told so', async () => {
  const tip = sample.commit(
    { [POLICY_PATH]: 'nonsense: [' },
    { parents: [sample.base], branch: 'no-policy' },
  );
  const delivered = await deliver({ directory: sample.directory, pushes: [push(tip, 'no-policy')] });
  expect(Object.values(statusesOf(delivered))).toEqual([
    expect.stringContaining('failure: merged, not published: the policy is not valid: '),
  ]);
});

test.each([
  ['holds the catalog no more', { [HARBOUR]: null }],
  [
    'names a base image that is not there',
    { [POLICY_PATH]: policyWith('base: registry.example.com/sea/none:x') },
  ],
])('a newest commit that %s keeps an older one not back', async (what, changes) => {
  const branch = `fails-${what.length}`;
  const tip = sample.commit(changes, { parents: [sample.addition], branch });
  const work: CatalogMessage = { ...push(sample.addition, branch), kind: 'catalog', catalog: 'v4.20' };
  const delivered = await deliver({ directory: sample.directory, pushes: [push(sample.base), work] });
  expect(delivered.aside).toBe(0);
  expect(statusesOf(delivered)[sample.addition]).toMatch(/^success: published: sha256:/);
  // Nobody asked for its catalog: nothing would ever end its waiting.
  expect(statusesOf(delivered)[tip]).toBeUndefined();
  expect(JSON.stringify(delivered.state)).not.toContain('pending');
});

test('a newest commit whose image has no name fails by itself; the one before it is published', async () => {
  const policy = (sampleFiles()[POLICY_PATH] ?? '').replace(
    'sea/catalog:{catalog}',
    'sea/catalog:{catalog} x',
  );
  const { delivered, tip } = await burst({ [POLICY_PATH]: policy }, 'nameless');
  expect(statusesOf(delivered)).toMatchObject({
    [tip]: expect.stringContaining('error: not published yet: '),
    [sample.addition]: expect.stringContaining('success: published: sha256:'),
  });
});

test('of a burst of merges one is built; the others are told which one', async () => {
  const tip = sample.commit({ 'README.md': 'words' }, { parents: [sample.addition], branch: 'burst' });
  const pushes = [push(sample.base, 'burst'), push(sample.addition, 'burst'), push(tip, 'burst')];
  const delivered = await deliver({ directory: sample.directory, pushes });
  const alone = await deliver({ directory: sample.directory, pushes: [push(tip, 'burst')] });
  const claims = (calls: readonly string[]) => calls.filter((call) => call === 'registry.putManifest').length;
  expect(claims(delivered.calls)).toBe(claims(alone.calls));
  const told = statusesOf(delivered);
  expect(told[tip]).toMatch(/^success: published: sha256:/);
  for (const older of [sample.base, sample.addition]) {
    expect(told[older]).toBe(`success: published as part of a newer commit: ${tip}`);
  }
  // For each push, and for the one image.
  expect(delivered.opens).toBe(pushes.length + 1);
});

test('a history that was rewritten back to a published commit: the next epoch publishes it again', async () => {
  sample.git('branch', '-f', 'rewritten', sample.base);
  const epoch: CatalogMessage = {
    ...push(sample.base, 'rewritten'),
    kind: 'catalog',
    catalog: 'v4.20',
    epoch: 1,
  };
  const pushes = [push(sample.base), push(sample.addition, 'addition'), epoch];
  const delivered = await deliver({ directory: sample.directory, pushes });
  const first = await deliver({ directory: sample.directory, pushes: [push(sample.base)] });
  expect(tagsOf(delivered)).toEqual(tagsOf(first));
});

test('a history that comes back to a commit that was published before: its push publishes it again', async () => {
  const epoch: CatalogMessage = { ...push(sample.base), kind: 'catalog', catalog: 'v4.20', epoch: 1 };
  const forth = push(sample.addition, 'addition');
  const delivered = await deliver({
    directory: sample.directory,
    pushes: [push(sample.base), forth, epoch, forth],
  });
  const alone = await deliver({ directory: sample.directory, pushes: [forth] });
  expect(tagsOf(delivered)).toEqual(tagsOf(alone));
});

test('GitHub not taking statuses keeps no image back', async () => {
  const run = { directory: sample.directory, pushes: [push(sample.base)] };
  const { state } = await deliver({ ...run, denies: true });
  const { tags, statuses } = state as { tags: object; statuses: string[] };
  expect(Object.keys(tags)).toEqual(['v4.20']);
  expect(statuses).toEqual([]);
});
