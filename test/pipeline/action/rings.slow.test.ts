/** The Action opens rings on a schedule: what is known of them is kept in the repository's own refs. */
import { expect, onTestFinished, test } from 'vitest';
import { moveAllRings } from '../../../pipeline/action/rings.ts';
import { openRepository } from '../../../pipeline/git/repository.ts';
import { openLayout } from '../../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../../pipeline/oci/registry/layout/registry.ts';
import { POLICY_PATH, policyAt } from '../../../pipeline/policy/read-policy.ts';
import { gitFence } from '../../../pipeline/publish/fence-git.ts';
import { publishCatalog } from '../../../pipeline/publish/publish.ts';
import { folder } from '../../fakes/folder.ts';
import { harbourRepository } from '../../fakes/sample.ts';

test('a ring opens in a later run, when the image has soaked and its check has passed', async () => {
  const sample = harbourRepository();
  onTestFinished(() => sample.remove());
  const before = sample.git('show', `${sample.base}:${POLICY_PATH}`);
  const rings = "rings: [{tag: '{catalog}-canary'}, {tag: '{catalog}', after: 24h, checks: [smoke]}]";
  const commit = sample.commit(
    { [POLICY_PATH]: before.replace(/( +)mirrorTo:/, (line, indent) => `${indent}${rings}\n${line}`) },
    { parents: [sample.base], branch: 'main' },
  );
  const settings = { searchPath: process.env['PATH'] };
  const repository = await openRepository(sample.directory, settings);
  const registry = layoutRegistry(await openLayout(folder(), { create: true }));
  onTestFinished(repository.close);
  const { policy } = await policyAt(repository.objects, commit);
  if (!policy) throw new Error('a policy');
  const place = { kind: 'tag', registry: 'registry.example.com', repository: 'sea/catalog' } as const;
  const tagged = async (tag: string): Promise<string | undefined> =>
    (await registry.resolve({ ...place, tag }))?.digest;
  /** A run on its own machine. */
  const run = async (hour: number, check: 'success' | 'pending') => {
    const fence = gitFence({ repository: sample.directory, settings });
    try {
      const ports = { repository, registry, fence, progress: () => undefined };
      await publishCatalog(ports, { commit, catalog: 'v4.20', out: folder(), today: '2027-01-01' });
      const { rings: all, failed } = await moveAllRings({
        ...{ repository, registry, fence, commit, policy, catalogs: ['v4.20'] },
        ...{ name: 'sea/catalogs', branch: 'main' },
        ...{
          checkOf: async () => check,
          now: () => new Date(Date.UTC(2027, 0, 1, hour)),
          log: () => undefined,
        },
      });
      expect(failed).toEqual([]);
      return all[0]?.waits[0]?.why;
    } finally {
      await fence.close();
    }
  };
  expect(await run(0, 'success')).toEqual(['soaks for another 24 h of 24 h']);
  expect(await run(24, 'pending')).toEqual(['the check smoke has not ended']);
  expect(await tagged('v4.20')).toBeUndefined();
  expect(await run(25, 'success')).toBeUndefined();
  expect(await tagged('v4.20')).toBe(await tagged('v4.20-canary'));
  expect(await run(26, 'success')).toBeUndefined();
  const [ref = ''] = sample.git('for-each-ref', '--format=%(refname)', 'refs/portolan-rings').split('\n');
  expect(ref).toMatch(/^refs\/portolan-rings\/v4\.20\//);
  // Each look that had something to keep is a commit.
  expect(Number(sample.git('rev-list', '--count', ref))).toBeGreaterThan(2);
});

test('a run of an old commit opens no ring by the conditions of that commit', async () => {
  const sample = harbourRepository();
  onTestFinished(() => sample.remove());
  const before = sample.git('show', `${sample.base}:${POLICY_PATH}`);
  const withRing = (conditions: string, parent: string): string => {
    const rings = `rings: [{tag: '{catalog}-canary'}, {tag: '{catalog}', ${conditions}}]`;
    const policy = before.replace(/( +)mirrorTo:/, (line, indent) => `${indent}${rings}\n${line}`);
    return sample.commit({ [POLICY_PATH]: policy }, { parents: [parent], branch: 'main' });
  };
  const old = withRing('after: 1h', sample.base);
  const tip = withRing('after: 72h', old);
  const settings = { searchPath: process.env['PATH'] };
  const repository = await openRepository(sample.directory, settings);
  const fence = gitFence({ repository: sample.directory, settings });
  const registry = layoutRegistry(await openLayout(folder(), { create: true }));
  onTestFinished(repository.close);
  onTestFinished(fence.close);
  const ports = { repository, registry, fence, progress: () => undefined };
  await publishCatalog(ports, { commit: tip, catalog: 'v4.20', out: folder(), today: '2027-01-01' });
  const run = async (commit: string, hour: number) => {
    const { policy } = await policyAt(repository.objects, commit);
    if (!policy) throw new Error('a policy');
    const { rings, failed } = await moveAllRings({
      ...{ repository, registry, fence, commit, policy, catalogs: ['v4.20'] },
      ...{ name: 'sea/catalogs', branch: 'main', checkOf: async () => undefined },
      ...{ now: () => new Date(Date.UTC(2027, 0, 1, hour)), log: () => undefined },
    });
    return failed.length > 0 ? failed : rings[0]?.waits[0]?.why;
  };
  expect(await run(tip, 0)).toEqual(['soaks for another 72 h of 72 h']);
  expect(await run(old, 2)).toEqual(['soaks for another 70 h of 72 h']);
  // What says nothing that can be read opens nothing.
  sample.commit({ [POLICY_PATH]: `${before}\nunknown: 1\n` }, { parents: [tip], branch: 'main' });
  expect(await run(old, 80)).toEqual(['v4.20']);
  sample.git('update-ref', '-d', 'refs/heads/main');
  expect(await run(old, 80)).toEqual(['v4.20']);
});
