/** Packages for the next version of the platform as pull requests: one for each group of owners, and the same ones again. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { authorizationHeader } from '../../pipeline/git/process.ts';
import { openRemote } from '../../pipeline/git/remote.ts';
import { proposePromotions } from '../../pipeline/github/proposals/promotions.ts';
import { unpaced } from '../fakes/github/client.ts';
import { type FakeForge, startForge, TOKEN } from '../fakes/github/forge.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';
import { runCommand } from '../fakes/terminal.ts';

let sample: SampleRepository;
let forge: FakeForge;
const ci = (owner: string, strategy: string): string =>
  `reviewers: [${owner}]\nfbc:\n  version_promotion_strategy: ${strategy}\n`;
beforeEach(async () => {
  sample = sampleRepository();
  forge = await startForge(sample, []);
  const files = {
    'operators/ferry-operator/ci.yaml': ci('alice', 'review-needed'),
    'operators/harbour-operator/ci.yaml': ci('bob', 'review-needed'),
    'operators/lighthouse-operator/ci.yaml': ci('carol', 'always'),
  };
  sample.commit(files, { parents: [sample.addition], branch: 'main' });
});
afterEach(async () => {
  await forge.close();
  sample.remove();
  expect(forge.defects).toEqual([]);
});

async function promote(group = false) {
  const url = `${forge.url}/example/catalogs.git`;
  const repository = openRemote(
    { url, header: authorizationHeader(TOKEN) },
    { searchPath: process.env['PATH'] },
  );
  const ports = { github: unpaced(forge), name: { owner: 'example', repo: 'catalogs' }, repository };
  try {
    const { proposed } = await proposePromotions(ports, {
      ...{ base: 'main', from: 'v4.20', to: 'v4.21', today: '2026-01-31', group },
    });
    return [...proposed].map(([key, { kind, number }]) => `${key}: ${kind} ${number}`);
  } finally {
    await repository.close();
  }
}

test('one pull request for each owner; the same again; closed when somebody else promoted the package', async () => {
  expect(await promote()).toEqual(['alice: opened 7', 'always: opened 8', 'bob: opened 9']);
  const pulls = [...forge.pulls.values()];
  expect(pulls.map(({ title }) => title)).toEqual([
    'Promote ferry-operator from v4.20 to v4.21',
    'Promote lighthouse-operator from v4.20 to v4.21',
    'Promote harbour-operator from v4.20 to v4.21',
  ]);
  expect(pulls[0]?.body).toContain('`ferry-operator` (review-needed, owned by `alice`)');
  const path = 'ferry-operator/catalog.yaml';
  expect(sample.git('show', `portolan/promote/v4.21/alice:catalogs/v4.21/${path}`)).toBe(
    sample.git('show', `main:catalogs/v4.20/${path}`),
  );
  expect(await promote()).toEqual(['alice: standing 7', 'always: standing 8', 'bob: standing 9']);
  sample.commit(
    { [`catalogs/v4.21/${path}`]: sample.git('show', `main:catalogs/v4.20/${path}`) },
    { parents: ['main'], branch: 'main' },
  );
  expect(await promote()).toEqual(['alice: closed 7', 'always: standing 8', 'bob: standing 9']);
});

test('teams whose names differ in the place of the slash alone have a pull request each', async () => {
  const path = '.github/portolan.yaml';
  const teams = "packages: {ferry-operator: ['@sea-ops/ferry'], harbour-operator: ['@sea/ops-ferry']}";
  const policy = sample.git('show', `main:${path}`).replace('packages: {ferry-operator: [fred]}', teams);
  const unowned = 'fbc:\n  version_promotion_strategy: review-needed\n';
  const files = {
    'operators/ferry-operator/ci.yaml': unowned,
    'operators/harbour-operator/ci.yaml': unowned,
  };
  sample.commit({ ...files, [path]: policy }, { parents: ['main'], branch: 'main' });
  const proposed = await promote();
  expect(proposed).toEqual(['-sea-ops.ferry: opened 7', '-sea.ops-ferry: opened 8', 'always: opened 9']);
});

test('one for all, by the command', async () => {
  const environment = {
    ...{ PATH: process.env['PATH'], GITHUB_API_URL: forge.url, GITHUB_SERVER_URL: forge.url },
    GITHUB_TOKEN: TOKEN,
  };
  const words = ['promote', '--from', 'v4.20', '--to', 'v4.21', '--repo', 'example/catalogs', '--group'];
  const { exit, out } = await runCommand(words, { environment });
  expect({ exit, out }).toEqual({ exit: 0, out: expect.stringMatching(/^all: opened pull request 7\n/) });
  expect([...forge.pulls.values()].map(({ title }) => title)).toEqual([
    'Promote 3 packages from v4.20 to v4.21',
  ]);
});
