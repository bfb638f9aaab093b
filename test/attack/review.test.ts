/** What the gate says in reviews: suggestions that can be taken with a click, and requests for approvals. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { BASE, POLICY } from '../fakes/gate.ts';
import type { FakePull } from '../fakes/github/forge.ts';
import { pullPayload } from '../fakes/github/payload.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { buildAction } from '../fakes/program.ts';
import type { Files } from '../fakes/repository.ts';
import { runStep, type Stepped } from '../fakes/step.ts';

beforeAll(buildAction);

let hub: Hub;
beforeEach(async () => {
  hub = await openHub({ ...BASE, ...etcd() });
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

/** A catalog as people write it; versions are entries that follow one another, but for the last. */
function etcd(last?: string, end = ''): Files {
  const versions = ['1.0.0', '1.1.0'];
  const lines = [
    'schema: olm.package',
    'name: etcd',
    'defaultChannel: stable',
    '---',
    'schema: olm.channel',
    'package: etcd',
    'name: stable',
    'entries:',
    ...versions.flatMap((version, i) => [
      `- name: etcd.v${version}`,
      ...(i === 0 ? [] : [`  replaces: etcd.v${versions[i - 1]}`]),
    ]),
    ...(last === undefined ? [] : [`- name: etcd.v${last}${end}`]),
    ...[...versions, ...(last === undefined ? [] : [last])].flatMap((version) => [
      '---',
      'schema: olm.bundle',
      'package: etcd',
      `name: etcd.v${version}`,
      `image: quay.io/org/etcd@sha256:${version.replaceAll('.', '').padStart(64, '0')}`,
      'properties:',
      '- type: olm.package',
      '  value:',
      '    packageName: etcd',
      `    version: ${version}`,
    ]),
  ];
  const text = `${lines.join('\n')}\n`;
  return { 'catalogs/v4.19/etcd/catalog.yaml': text, 'catalogs/v4.20/etcd/catalog.yaml': text };
}

function stepOn(pull: FakePull, inputs: Record<string, string> = {}): Promise<Stepped> {
  const { forge } = hub;
  return runStep({ event: 'pull_request_target', payload: pullPayload(forge, pull), forge, inputs });
}

describe('suggestions', () => {
  test('a line that is missing is offered where it belongs, in each catalog, once', async () => {
    const pull = hub.open(etcd('1.2.0'));
    const stepped = await stepOn(pull);
    expect(stepped.status, stepped.log).toBe(0);
    expect(hub.forge.reviewComments.map(({ path, line, commit }) => [path, line, commit])).toEqual([
      ['catalogs/v4.19/etcd/catalog.yaml', 12, pull.head],
      ['catalogs/v4.20/etcd/catalog.yaml', 12, pull.head],
    ]);
    expect(hub.forge.reviewComments[0]?.body).toContain(
      '\n```suggestion\n- name: etcd.v1.2.0\n  replaces: etcd.v1.1.0\n```',
    );
    await stepOn(pull);
    expect(hub.forge.reviewPosts).toEqual([2]);
    // Anybody can write the mark; what others wrote keeps nothing back.
    for (const comment of hub.forge.reviewComments) Object.assign(comment, { by: 'mallory' });
    await stepOn(pull);
    expect(hub.forge.reviewPosts).toEqual([2, 2]);
  });

  test('what is taken makes the finding go away', async () => {
    const pull = hub.open(etcd('1.2.0'));
    const first = await stepOn(pull);
    expect(first.report?.verdict).toBe('fail');
    const sarif = JSON.parse(readFileSync(first.outputs['sarif'] ?? '', 'utf8'));
    const fixes = sarif.runs[0].results.flatMap((one: { fixes?: unknown[] }) => one.fixes ?? []);
    expect(fixes).toMatchObject([
      {
        artifactChanges: [
          {
            artifactLocation: { uri: 'catalogs/v4.19/etcd/catalog.yaml' },
            replacements: [
              {
                deletedRegion: { startLine: 12, startColumn: 1, endLine: 12, endColumn: 20 },
                insertedContent: { text: '- name: etcd.v1.2.0\n  replaces: etcd.v1.1.0' },
              },
            ],
          },
          { artifactLocation: { uri: 'catalogs/v4.20/etcd/catalog.yaml' } },
        ],
      },
    ]);
    const files = Object.fromEntries(
      Object.entries(etcd('1.2.0')).map(([path, text]) => {
        const lines = String(text).split('\n');
        const found = hub.forge.reviewComments.find((one) => one.path === path);
        const [, after = ''] = /```suggestion\n([\s\S]*?)\n```/.exec(found?.body ?? '') ?? [];
        lines.splice((found?.line ?? 0) - 1, 1, after);
        return [path, lines.join('\n')];
      }),
    );
    hub.push(pull, files);
    expect((await stepOn(pull)).report).toMatchObject({ verdict: 'pass' });
    expect(hub.forge.reviewPosts).toEqual([2]);
  });

  test('lines that the pull request leaves as they are get none', async () => {
    hub.moveBase(etcd('1.2.0'));
    await stepOn(hub.open({ 'operators/etcd/Makefile': 'all:\n' }));
    const text = String(etcd('1.2.0')['catalogs/v4.20/etcd/catalog.yaml']);
    await stepOn(hub.open({ 'catalogs/v4.20/etcd/catalog.yaml': `# a comment\n${text}` }));
    expect(hub.forge.reviewPosts).toEqual([]);
  });

  test('21: text of others ends no fence, mentions nobody and hides nothing', async () => {
    const evil = ' # ``` @everyone <!-- ````suggestion';
    const pull = hub.open(etcd('1.2.0', evil));
    await stepOn(pull);
    const [comment] = hub.forge.reviewComments;
    expect(comment?.body).toMatch(
      /\n(`{5,})suggestion\n- name: etcd\.v1\.2\.0 # ```[^\n]*\n {2}replaces: etcd\.v1\.1\.0\n\1$/,
    );
    const outside = comment?.body.replace(/\n(`{5,})suggestion\n[\s\S]*\n\1$/, '') ?? '';
    expect(outside).not.toMatch(/@everyone|suggestion\n/);
    hub.push(pull, etcd('1.2.0', ' # \u202ereversed'));
    await stepOn(pull);
    expect(hub.forge.reviewPosts).toEqual([2]);
  });

  test('the policy, or a step without comments, may do without', async () => {
    await stepOn(hub.open(etcd('1.2.0')), { comment: 'false' });
    hub.moveBase({ [POLICY_PATH]: `${POLICY}suggestions: false\n` });
    await stepOn(hub.open(etcd('1.2.0')));
    expect(hub.forge.reviewPosts).toEqual([]);
  });

  test('what GitHub refuses is said in the log, and no reason to fail', async () => {
    hub.forge.faults = [
      ({ operation }) =>
        operation.startsWith('POST') && operation.endsWith('/reviews')
          ? { status: 422, data: { message: 'Line could not be resolved' } }
          : undefined,
    ];
    const { status, log } = await stepOn(hub.open(etcd('1.2.0')));
    expect([status, log]).toEqual([
      0,
      expect.stringContaining('cannot write suggestions: GitHub returned 422'),
    ]);
  });
});

describe('review requests', () => {
  const quay: Files = { 'operators/quay/Makefile': 'all:\n' };
  const asked = (): string[] => hub.forge.requests.map(({ login }) => login);

  test('go to those whose approval is missing, once, and again when they saw something else', async () => {
    const pull = hub.open(quay, { author: 'mallory' });
    await stepOn(pull);
    expect(asked()).toEqual(['carol', 'dan']);
    await stepOn(pull);
    expect(asked()).toHaveLength(2);
    pull.reviews.push({ by: 'carol', state: 'APPROVED', commit: pull.head });
    hub.push(pull, { 'operators/quay/Makefile': 'evil:\n' });
    await stepOn(pull);
    expect(asked()).toEqual(['carol', 'dan', 'carol']);
    await stepOn(pull);
    expect(asked()).toHaveLength(3);
  });

  test('never to the author, not for a draft, and not before the findings are gone', async () => {
    hub.moveBase({ [POLICY_PATH]: `${POLICY}approval: {ownerSelfApproval: false}\n` });
    await stepOn(hub.open(quay, { author: 'carol' }));
    expect(asked()).toEqual(['dan']);
    await stepOn(hub.open(quay, { author: 'mallory', draft: true }));
    await stepOn(hub.open({ ...quay, ...etcd('1.2.0') }, { author: 'mallory' }));
    expect(asked()).toEqual(['dan']);
  });

  test('name who cannot be asked, and fail nothing', async () => {
    hub.forge.outsiders.add('carol');
    const { status, log } = await stepOn(hub.open(quay, { author: 'mallory' }));
    expect(asked()).toEqual(['dan']);
    expect([status, log]).toEqual([
      0,
      expect.stringMatching(/^::warning::cannot request a review .*: carol$/m),
    ]);
  });

  test('the policy may do without', async () => {
    hub.moveBase({ [POLICY_PATH]: `${POLICY}approval: {ask: false}\n` });
    await stepOn(hub.open(quay, { author: 'mallory' }));
    expect(asked()).toEqual([]);
  });
});
