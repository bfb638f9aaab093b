/** The Action retires what a push has no more: found by the claims that stand in the repository's own refs. */
import { generateKeyPairSync } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { retireGone, returnedAmong } from '../../../pipeline/action/retire.ts';
import { openRepository } from '../../../pipeline/git/repository.ts';
import { openLayout } from '../../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../../pipeline/oci/registry/layout/registry.ts';
import { POLICY_PATH, policyAt } from '../../../pipeline/policy/read-policy.ts';
import type { AttestOptions } from '../../../pipeline/publish/attest/attest.ts';
import { BUNDLE_TYPE } from '../../../pipeline/publish/attest/sign.ts';
import { gitFence } from '../../../pipeline/publish/fence-git.ts';
import { publishCatalog } from '../../../pipeline/publish/publish.ts';
import { publishedCatalogs } from '../../../pipeline/publish/published-catalogs.ts';
import { folder } from '../../fakes/folder.ts';
import { harbourRepository, sampleFiles } from '../../fakes/sample.ts';

const HARBOUR = 'catalogs/v4.20/harbour-operator/catalog.yaml';
const PLACE = { registry: 'registry.example.com', repository: 'sea/catalog' } as const;
const TAG = { kind: 'tag', ...PLACE, tag: 'v4.20' } as const;

async function scene() {
  const sample = harbourRepository();
  onTestFinished(() => sample.remove());
  const settings = { searchPath: process.env['PATH'] };
  const repository = await openRepository(sample.directory, settings);
  const registry = layoutRegistry(await openLayout(folder(), { create: true }));
  const fence = gitFence({ repository: sample.directory, settings });
  onTestFinished(async () => {
    await repository.close();
    await fence.close();
  });
  const ports = { repository, registry, fence, progress: () => undefined };
  const publishAt = (commit: string, attest?: AttestOptions) =>
    publishCatalog(ports, { commit, catalog: 'v4.20', out: folder(), today: '2026-01-01', attest });
  // Of the sample's branches only the commits are wanted: by its policy all of them publish.
  for (const branch of sample.git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n'))
    if (branch !== 'main' && branch !== '') sample.git('branch', '-q', '-D', branch);
  const logged: string[] = [];
  /** What a run for a push to main retires; the branch may have moved on since. */
  const retire = async (commit: string, tip = commit): Promise<string[]> => {
    sample.git('update-ref', 'refs/heads/main', tip);
    const { policy } = await policyAt(repository.objects, commit);
    if (!policy) throw new Error('a policy');
    const catalogs = await publishedCatalogs(repository.objects, commit, policy);
    const log = (line: string): void => void logged.push(line);
    return retireGone({ repository, registry, fence, branch: 'main', commit, policy, catalogs, log });
  };
  /** What a run for a commit publishes again though it is deployed as it is. */
  const returned = async (commit: string): Promise<string[]> => {
    const { policy } = await policyAt(repository.objects, commit);
    if (!policy) throw new Error('a policy');
    return returnedAmong(await publishedCatalogs(repository.objects, commit, policy), { fence, policy });
  };
  const policy = sample.git('show', `main:${POLICY_PATH}`);
  const without = (retired: string, parents: readonly string[]): string =>
    sample.commit(
      {
        [HARBOUR]: null,
        [POLICY_PATH]: `${policy.replace('publish:', `publish:\n  retired: ${retired}`)}\n`,
      },
      { parents: [...parents], branch: `without-${retired}` },
    );
  return { sample, registry, publishAt, retire, returned, without, policy, logged };
}

test('a removed catalog loses its tag once, and gets it back with the catalog', async () => {
  const { sample, registry, publishAt, retire, without } = await scene();
  await publishAt(sample.base);
  const image = await registry.resolve(TAG);
  expect(await retire(sample.base), 'it is there').toEqual([]);
  const gone = without('retag', [sample.base]);
  expect(await retire(gone)).toEqual(['v4.20']);
  expect(await registry.resolve(TAG)).toBeUndefined();
  expect(
    await registry.resolve({ ...TAG, tag: `retired-v4.20-${image?.digest.slice(7, 19)}` }),
  ).toBeDefined();
  expect(await retire(gone), 'once').toEqual([]);
  expect((await publishAt(sample.base)).kind, 'late').toBe('superseded');
  const back = sample.commit(
    { [HARBOUR]: sampleFiles()[HARBOUR] ?? '' },
    { parents: [gone], branch: 'back' },
  );
  expect((await publishAt(back)).kind).toBe('published');
  expect(await registry.resolve(TAG)).toEqual(image);
});

test('an image that Portolan signed as the policy asks is deleted, with its signatures', async () => {
  const { sample, registry, publishAt, retire, policy } = await scene();
  const signing = policy.replace(/(?=image: )/, 'attest: [kms]\n      ');
  expect(signing).not.toBe(policy);
  const at = sample.commit({ [POLICY_PATH]: `${signing}\n` }, { parents: [sample.base], branch: 'signing' });
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signer = { kind: 'key', key: pem } as const;
  await publishAt(at, { sbom: false, provenance: true, signer, builder: 'urn:test' });
  const image = await registry.resolve(TAG);
  const digest = image?.digest ?? '';
  expect(await registry.listReferrers(PLACE, digest, BUNDLE_TYPE)).toHaveLength(2);
  const retired = `${signing.replace('publish:', 'publish:\n  retired: delete')}\n`;
  const gone = sample.commit(
    { [HARBOUR]: null, [POLICY_PATH]: retired },
    { parents: [at], branch: 'without-signed' },
  );
  sample.git('branch', '-q', '-D', 'signing');
  expect(await retire(gone)).toEqual(['v4.20']);
  expect(await registry.resolve({ kind: 'digest', ...PLACE, digest })).toBeUndefined();
  expect(await registry.listReferrers(PLACE, digest, BUNDLE_TYPE)).toEqual([]);
});

test('89: a policy that spells an image differently retires nothing, and older commits do not take its tag', async () => {
  const { sample, registry, publishAt, retire, policy } = await scene();
  await publishAt(sample.base);
  const spelled = policy.replaceAll(PLACE.registry, 'Registry.Example.com:443');
  expect(spelled).not.toBe(policy);
  const files = { [POLICY_PATH]: `${spelled.replace('publish:', 'publish:\n  retired: delete')}\n` };
  const respelled = sample.commit(files, { parents: [sample.base], branch: 'respelled' });
  expect((await publishAt(respelled)).kind).toBe('published');
  expect(await retire(respelled)).toEqual([]);
  expect(await registry.resolve(TAG)).toBeDefined();
  expect((await publishAt(sample.base)).kind).toBe('superseded');
});

test('a revert brings a catalog back that is deployed as it is: it is published again, once', async () => {
  const { sample, registry, publishAt, retire, returned, without } = await scene();
  await publishAt(sample.base);
  expect(await returned(sample.base), 'it stands').toEqual([]);
  const image = await registry.resolve(TAG);
  const gone = without('delete', [sample.base]);
  await retire(gone);
  // The deployment of the first commit has the same content: nothing but the claim says that it is gone.
  const back = sample.commit(
    { [HARBOUR]: sampleFiles()[HARBOUR] ?? '' },
    { parents: [gone], branch: 'back' },
  );
  expect(await returned(back)).toEqual(['v4.20']);
  expect((await publishAt(back)).kind).toBe('published');
  expect(await registry.resolve(TAG)).toEqual(image);
  expect(await returned(back)).toEqual([]);
});

test.each([
  ['kind: Nothing\n', 'cannot be read'],
  ['apiVersion: portolan/v1alpha1\nkind: Portolan\n', 'names another place than it was published to'],
])('a claim of a commit whose policy does not tell the place is said to stay: %j', async (text, why) => {
  const { sample, publishAt, retire, without, logged } = await scene();
  const odd = sample.commit({ [POLICY_PATH]: text }, { parents: [sample.base], branch: 'odd' });
  await publishAt(sample.base);
  const fence = gitFence({ repository: sample.directory, settings: { searchPath: process.env['PATH'] } });
  onTestFinished(() => fence.close());
  for (const name of await fence.names()) {
    const standing = await fence.read(name);
    if (standing) await fence.replace(name, { ...standing, commit: odd }, standing);
  }
  const gone = without('delete', [odd]);
  sample.git('branch', '-q', '-D', 'odd');
  expect(await retire(gone)).toEqual([]);
  expect(logged).toContain(
    `cannot retire v4.20: the policy of ${odd.slice(0, 12)}, which published it, ${why}`,
  );
});

test('a branch on which the published commit is not, retires nothing', async () => {
  const { sample, registry, publishAt, retire, without } = await scene();
  await publishAt(sample.addition);
  expect(await retire(without('delete', [sample.base]))).toEqual([]);
  expect(await registry.resolve(TAG)).toBeDefined();
});

test('a late run of a commit that a newer one has reverted retires nothing', async () => {
  const { sample, registry, publishAt, retire, without } = await scene();
  await publishAt(sample.base);
  const gone = without('delete', [sample.base]);
  const back = sample.commit(
    { [HARBOUR]: sampleFiles()[HARBOUR] ?? '' },
    { parents: [gone], branch: 'back' },
  );
  expect(await retire(gone, back)).toEqual([]);
  expect(await registry.resolve(TAG)).toBeDefined();
});

test('a catalog that another branch publishes is not retired; one that only a topic branch has is', async () => {
  const { sample, registry, publishAt, retire, without, policy, logged } = await scene();
  await publishAt(sample.base);
  for (const [branch, gated] of [
    ['topic', 'main'],
    ['release-4.20', 'release-*'],
  ] as const)
    sample.commit({ [POLICY_PATH]: `branches: ['${gated}']\n${policy}` }, { parents: [sample.base], branch });
  const gone = without('delete', [sample.base]);
  expect(await retire(gone)).toEqual([]);
  expect(logged).toEqual(['v4.20 is not retired: by its policy (branches), release-4.20 publishes it too']);
  expect(await registry.resolve(TAG)).toBeDefined();
  sample.git('branch', '-D', 'release-4.20');
  expect(await retire(gone)).toEqual(['v4.20']);
  expect(await registry.resolve(TAG)).toBeUndefined();
});

test('a ring that is taken out of the policy is retired and ends; the catalog is not retired', async () => {
  const { sample, registry, publishAt, retire, policy, logged } = await scene();
  const withRings = (rings: string, parents: readonly string[]): string => {
    const changed = policy.replace(/( +)mirrorTo:/, (line, indent) => `${indent}rings: ${rings}\n${line}`);
    return sample.commit({ [POLICY_PATH]: changed }, { parents: [...parents], branch: 'rings' });
  };
  const ringed = withRings("[{tag: '{catalog}-canary'}, {tag: '{catalog}', after: 72h}]", [sample.base]);
  await publishAt(ringed);
  const image = await registry.resolve({ ...TAG, tag: 'v4.20-canary' });
  expect(image).toBeDefined();
  expect(await retire(ringed), 'it is there').toEqual([]);
  const without = withRings("[{tag: '{catalog}-early'}, {tag: '{catalog}', after: 72h}]", [ringed]);
  expect(await retire(without)).toEqual([]);
  expect(logged).toEqual([
    'v4.20 is no longer published to registry.example.com/sea/catalog:v4.20-canary (retired: keep)',
  ]);
  expect(await registry.resolve({ ...TAG, tag: 'v4.20-canary' })).toEqual(image);
  await retire(without);
  expect(logged, 'once').toHaveLength(1);
  expect((await publishAt(ringed)).kind, 'late').toBe('superseded');
});
