import { join } from 'node:path';
import { dump } from 'js-yaml';
import { expect, onTestFinished, test } from 'vitest';
import { pullRequestOf } from '../../../../pipeline/git/merged-commits.ts';
import { bundleName, type WrittenEntry, written } from '../../../catalog/olm/universe.ts';
import { folder } from '../../../fakes/folder.ts';
import { makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { type Ran, runCommand } from '../../../fakes/terminal.ts';

const [A, B, C, D] = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];

/** A chain of versions in channel `a`. */
function chain(versions: readonly string[], { isTrap = false } = {}): string {
  const entries = versions.map((version, i): WrittenEntry => {
    const before = versions[i - 1];
    const replaces = before === undefined ? {} : { replaces: bundleName(before) };
    const skips = isTrap && i === versions.length - 1 ? { skips: [bundleName(before ?? '')] } : {};
    return { name: bundleName(version), ...replaces, ...skips };
  });
  return written({ p: { versions, channels: { a: entries } } });
}

/** A chain whose head skips what it replaces, so that OLM v0 offers nothing to what is older. */
function trap(versions: readonly string[]): string {
  return chain(versions, { isTrap: true });
}

interface Past {
  readonly git: TestRepository;
  readonly ids: readonly string[];
}

/** A branch on which the package was so, one state after the other; null takes it away. */
function past(...states: readonly (string | null)[]): Past {
  const git = makeRepository();
  onTestFinished(git.remove);
  const ids = [
    git.commit({
      'README.md': 'a',
      'catalogs/v4.20/q/catalog.json': written({
        q: { versions: [A], channels: { a: [{ name: bundleName(A, 'q') }] } },
      }),
    }),
  ];
  for (const [i, text] of states.entries()) {
    const options = { parents: ids.slice(-1), message: `State ${i} (#${100 + i})` };
    ids.push(git.commit({ 'catalogs/v4.20/p/catalog.json': text }, options));
  }
  git.git('reset', '--hard', '--quiet', ids.at(-1) ?? '');
  return { git, ids: ids.slice(1) };
}

async function blamed({ git }: Past, ...words: readonly string[]): Promise<Ran & { readonly json: Json }> {
  const ran = await runCommand(['blame', ...words, '--json'], { directory: git.directory });
  return { ...ran, json: ran.out === '' ? {} : JSON.parse(ran.out) };
}

type Json = { readonly blamed?: readonly Record<string, unknown>[]; readonly [key: string]: unknown };

test('names the merge that took the last upgrade path, not an earlier one that was repaired', async () => {
  const history = past(chain([A, B]), trap([A, B, C]), chain([A, B, C]), chain([B, C]), chain([B, C, D]));
  const { exit, json } = await blamed(history, 'p', '--version', A, '--channel', 'a');
  expect(exit).toBe(1);
  const cause = { kind: 'merge', commit: history.ids[3], pullRequest: 103, subject: 'State 3 (#103)' };
  expect(json.blamed).toMatchObject([
    { olm: 'v0', installed: A, catalogs: ['v4.20'], state: 'stuck', cause },
    { olm: 'v1', state: 'stuck', cause },
  ]);
  expect(json.blamed?.[0]?.['fix']).toMatchObject({
    text: `in the entry of ${bundleName(B)} set replaces: ${bundleName(A)}`,
    location: { file: 'catalogs/v4.20/p/catalog.json' },
  });
});

test('each resolver has its own answer', async () => {
  const history = past(chain([A, B]), trap([A, B, C]));
  const { json } = await blamed(history, 'p', '--version', A);
  expect(json.blamed).toMatchObject([
    { olm: 'v0', state: 'stuck', cause: { commit: history.ids[1] } },
    { olm: 'v1', state: 'upgrades' },
  ]);
});

test('without a channel, a version is looked for in a channel that lists it', async () => {
  const entries = [{ name: bundleName(A) }, { name: bundleName(B), replaces: bundleName(A) }];
  const both = (b: readonly WrittenEntry[]): string =>
    written({ p: { versions: [A, B, C], channels: { a: [{ name: bundleName(C) }], b } } });
  const history = past(both(entries), both([{ name: bundleName(B) }]));
  const { json } = await blamed(history, 'p', '--version', A, '--olm', 'v0');
  expect(json.blamed).toMatchObject([{ channels: ['b'], cause: { kind: 'merge', commit: history.ids[1] } }]);
});

test('a version that can upgrade is not stuck, whatever was wrong before', async () => {
  const history = past(trap([A, B, C]), chain([A, B, C]));
  const { exit, out } = await runCommand(['blame', 'p', '--version', A], {
    directory: history.git.directory,
  });
  expect([exit, out]).toEqual([
    0,
    expect.stringContaining('not stuck, its upgrade path ends at a channel head'),
  ]);
});

test('a version that never had an upgrade path is stuck since it was published', async () => {
  const history = past(chain([B]), trap([A, B, C]), trap([A, B, C, D]));
  const { json } = await blamed(history, 'p', '--version', A, '--olm', 'v0');
  expect(json.blamed).toMatchObject([
    { cause: { kind: 'published', commit: history.ids[1], pullRequest: 101 } },
  ]);
});

test.each([
  ['the package', null, 'restore the package p as it was in commit '],
  [
    'the channel',
    written({ p: { versions: [A], channels: { b: [{ name: bundleName(A) }] } } }),
    'restore the channel a as it was in commit ',
  ],
])('%s that was removed is restored from the commit before', async (_, text, fix) => {
  const history = past(chain([A, B]), text);
  const { json } = await blamed(history, 'p', '--name', bundleName(B), '--channel', 'a', '--olm', 'v0');
  const expected = { text: `${fix}${history.ids[0]?.slice(0, 12)}` };
  expect(json.blamed).toMatchObject([{ cause: { commit: history.ids[1] }, fix: expected }]);
});

test('a version that only old states have is found in them', async () => {
  const history = past(chain([A, B, C]), chain([C]));
  const { json } = await blamed(history, 'p', '--version', B, '--olm', 'v0');
  expect(json.blamed).toMatchObject([{ installed: B, cause: { commit: history.ids[1] } }]);
});

test('in a shallow clone, says that the rest is not known', async () => {
  const { git } = past(chain([A, B]), chain([B]), trap([A, B, C]));
  const clone = join(folder(), 'clone');
  git.git('branch', 'tip', 'HEAD');
  git.git('clone', '--quiet', '--depth=2', '--branch=tip', `file://${git.directory}`, clone);
  const { exit, out } = await runCommand(['blame', 'p', '--version', A, '--repo', clone]);
  expect(exit).toBe(2);
  expect(out).toMatch(/: stuck at least since .*#102: the clone is shallow: git fetch --unshallow\n/);
});

test('a version that nobody published is an error, and so is a question about nothing', async () => {
  const { git } = past(chain([A, B]));
  const run = (...words: readonly string[]): Promise<Ran> =>
    runCommand(['blame', ...words], { directory: git.directory });
  expect(await run('p', '--version', '9.9.9')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('no catalog of the branch has or had'),
  });
  expect(await run('p')).toMatchObject({
    exit: 2,
    err: expect.stringContaining('--version or --name is required'),
  });
  expect(await run()).toMatchObject({
    exit: 2,
    err: expect.stringContaining('name one of PACKAGE, --fleet and --must-gather'),
  });
  expect(await run('p', '--version', 'one')).toMatchObject({ exit: 2 });
});

const SUBSCRIPTION = {
  apiVersion: 'operators.coreos.com/v1alpha1',
  kind: 'Subscription',
  metadata: { name: 'p', namespace: 'ops' },
  spec: { name: 'p', channel: 'a', source: 'community' },
  status: { installedCSV: bundleName(A) },
};
const CSV = {
  apiVersion: 'operators.coreos.com/v1alpha1',
  kind: 'ClusterServiceVersion',
  metadata: { name: bundleName(A), namespace: 'ops' },
  spec: { version: A },
};

test('a must-gather is searched for all that is stuck, in the catalogs of its platform version', async () => {
  const stuck = trap([A, B, C]);
  const { git, ids } = past(chain([A, B]), stuck);
  git.commit({ 'catalogs/v4.19/p/catalog.json': stuck }, { parents: ids.slice(-1), branch: 'other' });
  const at = 'image/namespaces/ops/operators.coreos.com';
  const dir = folder({
    [`${at}/subscriptions/p.yaml`]: dump(SUBSCRIPTION),
    [`${at}/clusterserviceversions/p.v1.0.0.yaml`]: dump(CSV),
    'image/cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml': dump({
      kind: 'ClusterVersion',
      status: { desired: { version: '4.20.3' } },
    }),
    'image/namespaces/ops/core/pods/p.yaml': '{',
  });
  const words = ['blame', '--must-gather', dir, '--head', 'other'];
  const { exit, out } = await runCommand(words, { directory: git.directory });
  expect(exit).toBe(1);
  expect(out).toContain(`p 1.0.0, channel a, OLM v0, v4.20: stuck since `);
  expect(out).toContain(', pull request #101\n');
  expect(out).not.toContain('v4.19');
  const empty = await runCommand(['blame', '--must-gather', folder()], { directory: git.directory });
  expect([empty.exit, empty.err]).toEqual([2, expect.stringContaining('has no Subscription')]);
});

test('45: aliases of aliases in a must-gather are refused', async () => {
  const { git } = past(chain([A, B]), trap([A, B, C]));
  const levels = Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(12)}]`);
  const at = 'namespaces/ops/operators.coreos.com/subscriptions/p.yaml';
  const dir = folder({ [at]: `a0: &a0 x\n${levels.join('\n')}\n` });
  const { exit, err } = await runCommand(['blame', '--must-gather', dir], { directory: git.directory });
  expect([exit, err]).toEqual([2, expect.stringContaining('excessive aliasing')]);
});

test('a fleet is searched for all that is stuck; who can upgrade is counted', async () => {
  const { git } = past(chain([A, B]), trap([A, B, C]));
  const row = (version: string): unknown => ({
    cluster: 'east',
    platform: '4.20',
    olm: 'v0',
    package: 'p',
    channel: 'a',
    version,
  });
  const fleet = folder({ 'fleet.json': JSON.stringify({ kind: 'Fleet', rows: [row(A), row(B)] }) });
  const words = ['blame', '--fleet', join(fleet, 'fleet.json')];
  const { exit, out } = await runCommand(words, { directory: git.directory });
  expect([exit, out]).toEqual([
    1,
    expect.stringMatching(/^p 1\.0\.0, .*pull request #101\n[\s\S]*not stuck: 1 installation\n$/),
  ]);
});

test.each([
  ['Add p 1.0.0 (#12)', 12],
  ['Merge pull request #34 from anna/branch', 34],
  ['Fixes #56', undefined],
  ['Revert "Add p (#12)"', undefined],
])('the pull request of %j is %s', (subject, number) => {
  expect(pullRequestOf(subject)).toBe(number);
});

test('100: an installation for which the time did not suffice is not said to be fine', async () => {
  const { git } = past(chain([A, B]), trap([A, B, C]), trap([A, B, C, D]));
  let seconds = 0;
  const now = (): Date => {
    seconds += 100;
    return new Date(1000 * seconds);
  };
  const words = ['blame', 'p', '--version', A];
  const late = await runCommand([...words, '--timeout', '150'], { directory: git.directory, now });
  expect(late).toMatchObject({
    exit: 2,
    out: `p ${A}: not searched, because the time limit was reached (--timeout)\n`,
  });
  expect((await runCommand(words, { directory: git.directory })).exit).toBe(1);
});
