/** What the Action says: to the runner, on GitHub, in files; and that no text of others does anything there. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { RULES } from '../../catalog/rules/index.ts';
import { CHECKING } from '../../pipeline/forge/status.ts';
import { POLICY_PATH } from '../../pipeline/policy/read-policy.ts';
import { rulePage } from '../../pipeline/report/rule-help.ts';
import { catalogOf, documents, POLICY } from '../fakes/gate.ts';
import { type FakePull, TOKEN } from '../fakes/github/forge.ts';
import { example, pullPayload } from '../fakes/github/payload.ts';
import type { Asked } from '../fakes/github/server.ts';
import { type Hub, openHub } from '../fakes/hub.ts';
import { buildAction } from '../fakes/program.ts';
import { registry } from '../fakes/registry.ts';
import type { Files } from '../fakes/repository.ts';
import { runStep, type Stepped } from '../fakes/step.ts';

/** Links to the pages of rules, which no pull request can write. */
const RULE_PAGES: ReadonlySet<string | undefined> = new Set(RULES.map(({ id }) => rulePage(id)));

beforeAll(buildAction);

let hub: Hub;
beforeEach(async () => {
  hub = await openHub();
});
afterEach(async () => {
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

const etcd = (...versions: string[]): Files => ({
  'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', ...versions]),
});

function stepOn(pull: FakePull, inputs: Record<string, string> = {}): Promise<Stepped> {
  const { forge } = hub;
  return runStep({ event: 'pull_request_target', payload: pullPayload(forge, pull), forge, inputs });
}

/** The statuses that say a result; before each, one says that the check is running. */
function said() {
  return hub.forge.statuses.filter(({ description }) => description !== CHECKING);
}

/** Everything that a step wrote anywhere. */
function everything({ log, summary, temporary }: Stepped): string[] {
  const files = readdirSync(temporary).filter((name) => name !== 'event.json');
  const { statuses, checkRuns, comments, reviewComments } = hub.forge;
  return [
    // The runner is told what to hide.
    log.replaceAll(/^::add-mask::.*$/gm, ''),
    summary,
    ...files.map((name) => readFileSync(join(temporary, name), 'utf8')),
    JSON.stringify([statuses, checkRuns, [...comments.values()], reviewComments]),
  ];
}

describe('a pull request', () => {
  test('that its owner may make is allowed, and said so everywhere', async () => {
    const pull = hub.open(etcd('1.2.0'));
    const stepped = await stepOn(pull);
    expect(stepped.status, stepped.log).toBe(0);
    expect(stepped.outputs).toMatchObject({ verdict: 'pass', authority: 'allow', state: 'success' });
    expect(stepped.summary).toContain('allowed, and all checks passed');
    expect(hub.forge.statuses).toMatchObject([
      { sha: pull.head, context: 'portolan', state: 'pending', description: 'the check is running' },
      {
        sha: pull.head,
        context: 'portolan',
        state: 'success',
        description: 'allowed, and all checks passed, with 1 warning',
      },
    ]);
    expect(hub.forge.checkRuns).toMatchObject([
      {
        head_sha: pull.head,
        name: 'portolan findings (do not require)',
        conclusion: 'success',
        annotations: [{ start_line: 5 }],
      },
    ]);
    expect(hub.forge.comments.get(pull.number)).toMatchObject([{ by: 'github-actions[bot]' }]);
  });

  test('1: nothing of it is checked out, and 28: no token is written anywhere', async () => {
    const pull = hub.open({
      ...etcd('1.2.0'),
      '.gitattributes': '* merge=evil filter=evil\n',
      'package.json': '{"scripts":{"install":"touch /tmp/pwned"}}',
    });
    const stepped = await stepOn(pull);
    expect(stepped.report?.verdict).toBe('pass');
    expect(readdirSync(stepped.temporary).sort()).toEqual(
      [
        'event.json',
        'output',
        'portolan-changes.md',
        'portolan-report.json',
        'portolan.sarif',
        'summary',
      ].sort(),
    );
    const secrets = [TOKEN, Buffer.from(`x-access-token:${TOKEN}`).toString('base64')];
    for (const text of everything(stepped)) for (const secret of secrets) expect(text).not.toContain(secret);
    expect(stepped.log).toContain(`::add-mask::${secrets[1]}`);
  });

  test('23 and 33: the verdict is a status on the judged head, one comment is written over again', async () => {
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    await stepOn(pull);
    // Anybody can write the mark.
    const [own] = hub.forge.comments.get(pull.number) ?? [];
    hub.forge.comments.set(pull.number, [
      { id: 5, by: 'mallory', body: own?.body ?? '' },
      ...(own ? [own] : []),
    ]);
    const before = pull.head;
    hub.push(pull, etcd('1.2.0', '1.3.0'));
    expect(said().filter(({ sha }) => sha === pull.head)).toEqual([]);
    await stepOn(pull);
    expect(said().map(({ sha, state }) => [sha, state])).toEqual([
      [before, 'pending'],
      [pull.head, 'pending'],
    ]);
    expect(hub.forge.comments.get(pull.number)?.map(({ by }) => by)).toEqual([
      'mallory',
      'github-actions[bot]',
    ]);
    expect(hub.forge.comments.get(pull.number)?.[1]?.body).toContain(pull.head);
  });

  test('33: what a late run found is no longer written into the comment', async () => {
    const pull = hub.open(etcd('1.2.0'));
    const { outputs } = await stepOn(pull, { mode: 'check' });
    expect(said()).toEqual([]);
    hub.push(pull, etcd('6.6.6'));
    const inputs = { mode: 'report', result: outputs['result'] ?? '' };
    const late = await stepOn(pull, inputs);
    expect(late.status, late.log).toBe(0);
    expect(said()).toEqual([]);
    expect(hub.forge.comments.size).toBe(0);
  });

  test('33: a push while a result is written leaves the comment to its own run', async () => {
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    const isSaid = ({ operation, body }: Asked): boolean =>
      operation.endsWith('/statuses/{sha}') && body.description !== 'the check is running';
    hub.forge.faults = [
      (asked) => {
        // Otherwise one question has answered what the comment needs.
        if (asked.operation === 'POST /graphql') return { status: 502 };
        if (isSaid(asked) && hub.forge.faults.length === 1) {
          hub.forge.faults.push(() => undefined);
          hub.push(pull, etcd('6.6.6'));
        }
        return undefined;
      },
    ];
    const { status, log } = await stepOn(pull);
    expect([status, log]).toEqual([0, expect.stringContaining('the next run updates the comment')]);
    expect(hub.forge.comments.size).toBe(0);
    // Without a push it is written, whether or not that question has an answer.
    await stepOn(pull);
    const [comment] = hub.forge.comments.get(pull.number) ?? [];
    hub.forge.faults = [];
    await stepOn(pull);
    expect(hub.forge.comments.get(pull.number)).toEqual([comment]);
  });

  test('5: a report that is none, or of another repository, is not said', async () => {
    const pull = hub.open(etcd('1.2.0'));
    const { outputs } = await stepOn(pull, { mode: 'check' });
    const empty = brotliCompressSync('{"headline":"allowed","head":"x"}').toString('base64');
    const cut = `${outputs['result']?.slice(0, 200)}`;
    for (const result of ['', 'e30=', empty, '1:e30=', `1:${empty}`, cut]) {
      const { status, log } = await stepOn(pull, { mode: 'report', result });
      expect([status, log]).toEqual([1, expect.stringContaining('::error::the input result')]);
    }
    const { forge } = hub;
    const elsewhere = await runStep({
      event: 'pull_request_target',
      payload: {},
      forge,
      inputs: { mode: 'report', result: outputs['result'] ?? '' },
      environment: { GITHUB_REPOSITORY: 'example/other', GITHUB_EVENT_NAME: 'label' },
    });
    expect([elsewhere.status, elsewhere.log]).toEqual([
      1,
      expect.stringContaining('from another repository'),
    ]);
    expect(said()).toEqual([]);
  });

  test('that is allowed and green is merged where the policy says so', async () => {
    hub.moveBase({ [POLICY_PATH]: `${POLICY}merge: {mode: auto, method: rebase}\n` });
    const held = hub.open(etcd('1.2.0'), { labels: ['hold'] });
    expect((await stepOn(held)).outputs['merged']).toBeUndefined();
    const pull = hub.open(etcd('1.2.0'));
    expect((await stepOn(pull, { merge: 'off' })).outputs['merged']).toBeUndefined();
    expect((await stepOn(pull)).outputs).toMatchObject({ merged: 'merged' });
    expect(hub.forge.merges).toEqual([{ number: pull.number, sha: pull.head, method: 'rebase' }]);
  });

  test('of other files only passes where the policy asks nobody about them, and is left to people to merge', async () => {
    const none = 'approval: {required: {root: none, unknown: none}}';
    hub.moveBase({ [POLICY_PATH]: `${POLICY}merge: {mode: auto}\n${none}\n` });
    const docs = await stepOn(hub.open({ 'docs/index.md': 'x' }, { author: 'mallory' }));
    expect(docs.outputs).toMatchObject({ authority: 'allow', state: 'success' });
    expect(docs.outputs['headline']).toContain('merge it by hand');
    expect(said()).toMatchObject([{ state: 'success' }]);
    const both = await stepOn(hub.open({ ...etcd('1.2.0'), 'docs/index.md': 'x' }));
    expect(both.outputs).toMatchObject({ state: 'success' });
    expect(hub.forge.merges).toEqual([]);
    // Without the other file it is merged.
    expect((await stepOn(hub.open(etcd('1.2.0')))).outputs).toMatchObject({ merged: 'merged' });
  });

  test('is observed only where the base branch says so: a success, no merge, no review requests', async () => {
    hub.moveBase({ [POLICY_PATH]: `${POLICY}merge: {mode: auto}\nenforce: off\n` });
    const stranger = hub.open(etcd('1.2.0'), { author: 'mallory' });
    const denied = await stepOn(stranger);
    expect(denied.status, denied.log).toBe(0);
    expect(denied.outputs).toMatchObject({
      authority: 'needs',
      state: 'success',
      headline: expect.stringMatching(/^would have waited: /),
    });
    const stranding = hub.open({ 'catalogs/v4.20/etcd/catalog.yaml': catalogOf('etcd', ['1.1.0']) });
    const failed = await stepOn(stranding);
    expect(failed.outputs).toMatchObject({ verdict: 'fail', state: 'success' });
    expect(failed.outputs['headline']).toMatch(/^would have failed: /);
    await stepOn(hub.open(etcd('1.3.0')));
    expect(said().map(({ state }) => state)).toEqual(['success', 'success', 'success']);
    expect(hub.forge.checkRuns.map(({ conclusion }) => conclusion)).toEqual([
      'neutral',
      'neutral',
      'success',
    ]);
    expect(hub.forge.merges).toEqual([]);
    expect(hub.forge.asked.filter(({ operation }) => operation.endsWith('/requested_reviewers'))).toEqual([]);
  });

  test('that switches to observing is held to the policy of the base branch', async () => {
    hub.moveBase({ [POLICY_PATH]: `${POLICY}merge: {mode: auto}\n` });
    const pull = hub.open(
      { ...etcd('1.2.0'), [POLICY_PATH]: `${POLICY}enforce: off\n` },
      { author: 'mallory' },
    );
    const { outputs } = await stepOn(pull);
    expect(outputs).toMatchObject({ authority: 'deny', state: 'failure' });
    expect(said()).toMatchObject([{ state: 'failure' }]);
  });

  test('8: a base that moves while it is merged has it judged again', async () => {
    hub.moveBase({ [POLICY_PATH]: `${POLICY}merge: {mode: auto}\n` });
    const pull = hub.open(etcd('1.2.0'));
    let moved = false;
    hub.forge.faults = [
      ({ operation }) => {
        if (operation.endsWith('/comments') && operation.startsWith('POST') && !moved) {
          moved = true;
          hub.moveBase({ 'operators/etcd/ci.yaml': 'reviewers: [carol]\n' });
        }
        return undefined;
      },
    ];
    const { outputs } = await stepOn(pull);
    expect(outputs['merged']).toBeUndefined();
    expect(hub.forge.merges).toEqual([]);
    expect(said().map(({ state }) => state)).toEqual(['success', 'pending']);
  });

  test('8: a base that moves after the last look at it has it judged again', async () => {
    hub.moveBase({ [POLICY_PATH]: `${POLICY}merge: {mode: auto}\n` });
    const pull = hub.open(etcd('1.2.0'));
    hub.forge.faults = [
      ({ operation }) => {
        // The branch's rules are read right before the merge.
        if (operation.includes('/rules/branches/') && hub.forge.faults.length > 0) {
          hub.forge.faults = [];
          hub.moveBase({ 'README.md': 'nothing that a check reads\n' });
        }
        return undefined;
      },
    ];
    const { outputs } = await stepOn(pull);
    expect(outputs['merged']).toBe('merged');
    expect(said().map(({ state }) => state)).toEqual(['success', 'success']);
  });

  test('a job that may not write check runs says its findings in the log', async () => {
    const pull = hub.open(etcd('1.2.0'));
    hub.forge.faults = [
      ({ operation }) =>
        operation.includes('/check-runs')
          ? { status: 403, data: { message: 'Resource not accessible by integration' } }
          : undefined,
    ];
    const { status, log } = await stepOn(pull);
    expect(status).toBe(0);
    expect(log).toMatch(/^::warning title=image\/undeclared,file=catalogs\/v4\.20/m);
    expect(said()).toMatchObject([{ state: 'success' }]);
  });
});

describe('events', () => {
  const on = (event: string, payload: unknown): Promise<Stepped> =>
    runStep({ event, payload, forge: hub.forge });

  test('16 and 17: a comment has the same question answered again, and nothing else', async () => {
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    const comment = (action: string, body: string) => {
      const payload = example('issue_comment', 'created');
      Object.assign(payload['issue'] as object, { number: pull.number, pull_request: { url: 'x' } });
      Object.assign(payload['comment'] as object, { body });
      return { ...payload, action };
    };
    for (const [action, body] of [
      ['created', '/approve'],
      ['created', 'see /recheck'],
      ['edited', '/recheck'],
    ] as const) {
      expect((await on('issue_comment', comment(action, body))).log).toContain(
        'the comment is not a new /recheck, /who or /explain RULE on a pull request',
      );
    }
    expect(hub.forge.asked).toEqual([]);
    await on('issue_comment', comment('created', '/recheck\nplease'));
    expect(said()).toMatchObject([{ sha: pull.head, state: 'pending' }]);
  });

  test('a question is answered in one comment, however often it is asked, and allows nothing', async () => {
    const pull = hub.open(etcd('1.2.0'), { author: 'mallory' });
    const ask = (body: string): Promise<Stepped> => {
      const payload = example('issue_comment', 'created');
      Object.assign(payload['issue'] as object, { number: pull.number, pull_request: { url: 'x' } });
      Object.assign(payload['comment'] as object, { body });
      return on('issue_comment', payload);
    };
    expect((await ask('/who')).log).not.toContain('cannot be written');
    const bodies = () => (hub.forge.comments.get(pull.number) ?? []).map(({ body }) => body);
    expect(bodies()).toHaveLength(2);
    expect(bodies()[1]).toContain('1 approval by owners for');
    await ask('/explain graph/cycle');
    expect(bodies()).toHaveLength(2);
    expect(bodies()[1]).toContain('`graph/cycle`');
    expect(said().map(({ state }) => state)).toEqual(['pending', 'pending']);
  });

  test('5 and 25: a poke is believed its commit only', async () => {
    const pull = hub.open(etcd('1.2.0'));
    const other = hub.open(etcd('6.6.6'), { author: 'mallory' });
    const payload = example('workflow_run', 'completed');
    Object.assign(payload['workflow_run'] as object, {
      head_sha: pull.head,
      pull_requests: [{ number: other.number }],
    });
    await on('workflow_run', payload);
    expect(said()).toMatchObject([{ sha: pull.head, state: 'success' }]);
  });

  test('26: a group of the queue gets its status on its own head', async () => {
    const pull = hub.open(etcd('1.2.0'));
    const [head = ''] = hub.queue([pull]);
    const payload = example('merge_group', 'checks_requested');
    Object.assign(payload['merge_group'] as object, {
      head_sha: head,
      base_sha: hub.base(),
      base_ref: 'refs/heads/main',
    });
    const { status, log } = await on('merge_group', payload);
    expect(status, log).toBe(0);
    expect(said()).toMatchObject([{ sha: head, context: 'portolan', state: 'success' }]);
    expect(hub.forge.comments.size).toBe(0);
  });

  test('24: what was merged by nobody’s push is published by the schedule, once', async () => {
    const { host } = await registry();
    const image = `${host}/catalog:{catalog}`;
    hub.moveBase({ [POLICY_PATH]: `${POLICY}publish: {catalogs: {'v4.20': {image: '${image}'}}}\n` });
    const inputs = { mode: 'publish', 'plain-http': host };
    const payload = { schedule: '23 * * * *' };
    const first = await runStep({ event: 'schedule', payload, forge: hub.forge, inputs });
    expect(first.status, first.log).toBe(0);
    const { 'v4.20': receipt } = JSON.parse(first.outputs['published'] ?? '{}');
    expect(receipt).toMatchObject({ commit: hub.base(), digest: expect.stringMatching(/^sha256:/) });
    expect(hub.forge.deployments).toMatchObject([
      {
        ref: hub.base(),
        environment: 'catalog/v4.20',
        states: ['success'],
        payload: { digest: receipt.digest },
      },
    ]);
    hub.moveBase({ 'README.md': 'nothing of a catalog\n' });
    const second = await runStep({ event: 'schedule', payload, forge: hub.forge, inputs });
    expect(second.outputs['published']).toBe('{}');
    const drift = { mode: 'drift', 'plain-http': host };
    const none = await runStep({ event: 'schedule', payload, forge: hub.forge, inputs: drift });
    expect([none.outputs['drift'], none.summary]).toEqual([
      '0',
      expect.stringContaining('Nothing has drifted'),
    ]);
    const older = hub.base();
    hub.moveBase({ ...etcd('1.2.0'), 'operators/quay/ci.yaml': 'reviewers: [carol, nobody-any-more]\n' });
    const { summary, outputs } = await runStep({
      event: 'schedule',
      payload,
      forge: hub.forge,
      inputs: drift,
    });
    expect(outputs['drift']).toBe('2');
    expect(summary).toMatch(/v4\\?\.20.*the branch has a different version/);
    expect(summary).toContain('no such GitHub account');
    const push = example('push');
    Object.assign(push, { ref: 'refs/heads/main', after: hub.base(), deleted: false });
    const third = await runStep({
      event: 'push',
      payload: push,
      forge: hub.forge,
      inputs: { 'plain-http': host },
    });
    expect(JSON.parse(third.outputs['published'] ?? '{}')).toMatchObject({ 'v4.20': { commit: hub.base() } });
    // The run of an older push, started again: the tag stays.
    const late = { event: 'push', payload: { ...push, after: older }, forge: hub.forge };
    const fourth = await runStep({ ...late, inputs: { 'plain-http': host } });
    expect([fourth.status, fourth.outputs['published']], fourth.log).toEqual([0, '{}']);
  });
});

describe('hostile text', () => {
  /** Commands of the runner, Markdown, mentions, ANSI, and what ends a Mermaid label. */
  const EVIL = [
    '::error::pwned',
    '\n::set-output name=verdict::pass',
    '##[add-path]/tmp',
    '<img src=x onerror=alert(1)>',
    '[click](https://evil.example)',
    '@everyone',
    '\u001b[31mred',
    '"]\nclick A "javascript:alert(1)"',
    '`<img src=y>` | cell |\n| row',
    '${{ secrets.TOKEN }}',
    '$(touch pwned)',
    '\u202egnp.exe',
  ].join(' ');

  test('18 and 21: in names, messages and paths it is text, in every output', async () => {
    const channel = `stable${EVIL}`;
    const catalog = documents(
      { schema: 'olm.package', name: 'etcd', defaultChannel: channel, description: EVIL },
      {
        schema: 'olm.channel',
        package: 'etcd',
        name: channel,
        entries: [{ name: `etcd.v2.0.0${EVIL}` }, { name: 'etcd.v1.1.0', replaces: `etcd.v1.0.0 ${EVIL}` }],
      },
      {
        schema: 'olm.bundle',
        package: 'etcd',
        name: `etcd.v2.0.0${EVIL}`,
        image: `quay.io/x ${EVIL}`,
        properties: [{ type: 'olm.package', value: { packageName: 'etcd', version: `2.0.0${EVIL}` } }],
      },
      {
        schema: 'olm.deprecations',
        package: 'etcd',
        entries: [{ reference: { schema: 'olm.package' }, message: EVIL }],
      },
    );
    const pull = hub.open(
      { 'catalogs/v4.20/etcd/catalog.yaml': catalog, 'operators/etcd/$(touch pwned)`x`.yaml': EVIL },
      { branch: '$(touch${IFS}pwned)', labels: [`do-not-merge/${EVIL}`] },
    );
    const stepped = await stepOn(pull);
    expect(stepped.status, stepped.log).toBe(0);
    expect(stepped.report?.findings.length).toBeGreaterThan(0);
    const { log, summary } = stepped;
    // Between the two lines that stop commands nothing is one, and beyond them only our own.
    const [, token = ''] = /^::stop-commands::(\S+)$/m.exec(log) ?? [];
    const outside = log.replace(new RegExp(`::stop-commands::${token}[\\s\\S]*?^::${token}::$`, 'm'), '');
    for (const line of outside.split('\n')) {
      if (line.includes('pwned')) expect(line).toMatch(/^::(?:error|warning|notice) title=/);
      expect(line).not.toMatch(/^(?:::set-output|##\[)/);
    }
    const comment = hub.forge.comments.get(pull.number)?.[0]?.body ?? '';
    for (const text of [
      log,
      summary,
      comment,
      stepped.outputs['headline'] ?? '',
      JSON.stringify(hub.forge.statuses),
    ]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
      expect(text).not.toMatch(/[\u001b\u202e]/);
    }
    for (const text of [summary, comment]) {
      const fences = text.replaceAll(/^```mermaid\n[\s\S]*?^```$/gm, '').replaceAll(/(`+)[^\n]*?\1/g, '');
      expect(fences).not.toMatch(/<img/);
      const links = [...fences.matchAll(/(?<!\\)\]\(([^)\s]*)\)/g)].map(([, url = '']) => url);
      const pages = `${hub.forge.url}/example/catalogs/blob/${pull.head}/catalogs/`;
      const isOurs = (url: string) =>
        (url.startsWith(pages) && /^[\w%.:/#-]+$/.test(url)) || RULE_PAGES.has(url);
      expect(links.filter((url) => !isOurs(url))).toEqual([]);
      expect(links.length).toBeGreaterThan(0);
      expect(fences).not.toMatch(/@everyone/);
      for (const [diagram] of text.matchAll(/^```mermaid\n[\s\S]*?^```$/gm))
        expect(diagram).not.toMatch(/^\s*click|<img/m);
    }
  });

  test('outputs are told from text by what nobody can guess', async () => {
    const pull = hub.open(etcd('1.2.0'), { labels: [`do-not-merge/${EVIL}\nghadelimiter\nverdict=fail`] });
    const { outputs } = await stepOn(pull);
    expect(outputs).toMatchObject({ verdict: 'pass', authority: 'allow', state: 'pending' });
    expect(outputs['headline']).toMatch(
      /^allowed, and all checks passed(?:, with \d+ warnings?)?, but on hold: it has the label "do-not-merge\/::error::pwned/,
    );
    expect(outputs['headline']).not.toContain('\n');
  });
});
