/**
 * docs/runbook.md: each of its symptoms is brought about with real servers, is seen as the page says, and goes away with the
 * commands that stand there. What an administrator does to the cluster itself, the test does by hand, line by line.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Reference } from '../../catalog/reference.ts';
import { type Database, openDatabase } from '../../functions/kubernetes/database.ts';
import { openQueues } from '../../functions/kubernetes/queue.ts';
import { tableRecords } from '../../functions/kubernetes/records.ts';
import type { RecordStore } from '../../pipeline/ports.ts';
import { messageOf } from '../../pipeline/publish/delivery/message.ts';
import { fakeGitHub, pushPayload } from '../fakes/cloud.ts';
import { type Fault, faultProxy } from '../fakes/fault-proxy.ts';
import { folder } from '../fakes/folder.ts';
import { gitServer } from '../fakes/git-server.ts';
import { type KubernetesHost, kubernetesHost, type Pod } from '../fakes/kubernetes.ts';
import { POSTGRES, type Postgres, postgres } from '../fakes/postgres.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { sampleFiles, sampleRepository } from '../fakes/sample.ts';
import { isOnPath } from '../fakes/tools.ts';

const isComplete = POSTGRES !== undefined && isOnPath('docker-registry');
const PAGE = readFileSync('docs/runbook.md', 'utf8');
const POLICY = '.github/portolan.yaml';
const CATALOG = 'catalogs/v4.20/harbour-operator/catalog.yaml';

beforeAll(() => {
  if (isComplete) buildProgram();
});

/** A running installation, and hands on all that it stands on. */
interface Scene {
  readonly host: KubernetesHost;
  readonly server: Postgres;
  readonly database: Database;
  readonly records: RecordStore;
  readonly github: Awaited<ReturnType<typeof fakeGitHub>>;
  /** What the registry does to the next requests; they pass at first. */
  readonly faults: { of: (request: { readonly method: string; readonly url: string }) => Fault };
  /** The same for GitHub's API. */
  readonly forge: { of: (request: { readonly url: string }) => Fault };
  receiver: Pod;
  worker: Pod;
  /** Puts a commit onto the branch; without files, an addition to the catalog. */
  merge(files?: Readonly<Record<string, string | null>>): string;
  /** Puts the branch to where it was. */
  rewrite(commit: string): void;
  /** Merges, and sends the webhook. */
  publish(files?: Readonly<Record<string, string | null>>): Promise<string>;
  push(commit: string): Promise<number | undefined>;
  digest(tag?: string): Promise<string | undefined>;
  deleteTag(): Promise<void>;
  moveTag(digest: string): Promise<void>;
  settled(): Promise<void>;
  /** Sends a message for later. */
  message: string;
}

async function scene({ policy: policyMore = '', more: settings = {} }: Partial<Trial> = {}): Promise<Scene> {
  const registry = await dockerRegistry();
  const faults: Scene['faults'] = { of: () => ({ kind: 'pass' }) };
  const forge: Scene['forge'] = { of: () => ({ kind: 'pass' }) };
  const proxy = await faultProxy(registry.host, (request) => faults.of(request));
  const server = await postgres();
  const files = sampleFiles();
  const policy = String(files[POLICY])
    .replace('registry.example.com', proxy.host)
    .replace(/( +)mirrorTo:/, (line, indent) => `${indent}${policyMore}\n${line}`);
  const harbour = String(files[CATALOG]);
  const sample = sampleRepository({
    [POLICY]: policy,
    'catalogs/v4.21/harbour-operator/catalog.yaml': harbour.replace('runs harbours', 'runs other harbours'),
  });
  onTestFinished(() => sample.remove());
  const served = join(folder(), 'catalogs.git');
  execFileSync('git', ['clone', '--quiet', '--bare', sample.directory, served]);
  execFileSync('git', ['-C', served, 'config', 'uploadpack.allowFilter', 'true']);
  const rewrite = (commit: string): void => {
    execFileSync('git', ['-C', served, 'fetch', '--quiet', sample.directory, '+refs/heads/*:refs/heads/*']);
    execFileSync('git', ['-C', served, 'update-ref', 'refs/heads/main', commit]);
  };
  let tip = sample.base;
  let count = 0;
  rewrite(tip);
  const github = await fakeGitHub();
  const api = await faultProxy(new URL(github.url).host, (request) => forge.of(request));
  const more = { PORTOLAN_KEEP_DOCUMENTS: '30', PORTOLAN_KEEP_OUTCOMES: '30', ...settings };
  const host = kubernetesHost({
    ...{
      git: await gitServer(served),
      branch: 'main',
      registry: `${proxy.host},${registry.host}`,
      github: `http://${api.host}`,
    },
    database: server.url,
    more,
  });
  const database = openDatabase({ url: server.url, connections: 2, log: () => undefined });
  onTestFinished(() => database.close());
  const at = (tag: string): Reference => ({
    ...{ kind: 'tag', registry: registry.host, repository: 'sea/catalog' },
    tag,
  });
  const [receiver, worker] = await Promise.all([host.start('receive'), host.start('work')]);
  const here: Scene = {
    ...{ host, server, database, records: tableRecords(database), github, faults, forge, receiver, worker },
    merge: (changed) => {
      count++;
      const own = { [CATALOG]: harbour.replace('runs harbours', `runs ${count} harbours`) };
      tip = sample.commit(changed ?? own, { parents: [tip], branch: 'next' });
      rewrite(tip);
      return tip;
    },
    rewrite: (commit) => {
      tip = commit;
      rewrite(commit);
    },
    push: (commit) => host.push(here.receiver, pushPayload(commit, 'main')),
    publish: async (changed) => {
      const commit = count === 0 && changed === undefined ? sample.base : here.merge(changed);
      if (commit === sample.base) count++;
      expect(await here.push(commit)).toBe(202);
      await here.settled();
      return commit;
    },
    digest: async (tag = 'v4.20') => (await registry.client.resolve(at(tag)).catch(() => undefined))?.digest,
    deleteTag: async () => {
      const digest = (await registry.client.resolve(at('v4.20')))?.digest ?? '';
      const { registry: name, repository } = at('v4.20');
      await registry.client.deleteManifest({ kind: 'digest', registry: name, repository, digest });
    },
    moveTag: async (digest) => {
      const { registry: name, repository } = at('v4.20');
      const manifest = await registry.client.getManifest({
        kind: 'digest',
        registry: name,
        repository,
        digest,
      });
      if (!manifest) throw new Error(`no manifest ${digest}`);
      await registry.client.putManifest(at('v4.20'), manifest);
    },
    settled: async () => {
      for (let empty = 0; empty < 3; await pause(200)) {
        const rows = await database
          .query("select 1 from portolan_queue.job where state < 'completed' and name <> 'aside'")
          .catch(() => [{}]);
        empty = rows.length === 0 ? empty + 1 : 0;
      }
    },
    message: '',
  };
  return here;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

/** A section of the page. */
interface Section {
  /** What it says that one sees, in code. */
  readonly seen: readonly string[];
  readonly check: readonly string[];
  readonly repair: readonly string[];
}

/** The row of a table that begins with a cell; the whole text where none is asked for. */
function rowOf(text: string, cell: string | undefined): string {
  if (cell === undefined) return text;
  const found = text.split('\n').find((line) => line.startsWith(`| ${cell} |`));
  if (found === undefined) throw new Error(`the page has no row: ${cell}`);
  return found;
}

/** @param title of a section, and behind a colon of a row of its table */
function sectionOf(title: string): Section {
  const [section = '', row] = title.split(': ');
  const [, text] = PAGE.split(`\n## ${section}\n`);
  const [see = '', rest = ''] = (text ?? '').split('\n## ')[0]?.split('**Check**') ?? [];
  const [check = '', repair = ''] = rest.split('**Repair**');
  const commands = (of: string): string[] =>
    [...of.matchAll(/```\n([\s\S]*?)```/g)].flatMap(([, lines = '']) => lines.trim().split('\n'));
  return {
    seen: [...rowOf(see, row).matchAll(/`([^`]+)`/g)]
      .map(([, code = '']) => code)
      .filter((code) => /[ _:]/.test(code)),
    check: commands(check),
    repair: commands(repair),
  };
}

type Hands = Readonly<Record<string, () => Promise<void> | void>>;

/** Runs commands of the page. @param hands what the administrator of the cluster does, by the beginning of the line */
async function run(here: Scene, lines: readonly string[], hands: Hands = {}): Promise<string> {
  const said: string[] = [];
  for (const line of lines) {
    const [, words] = /^worker (.*)$/.exec(line) ?? [];
    if (words === undefined) {
      const hand = Object.entries(hands).find(([beginning]) => line.startsWith(beginning))?.[1];
      if (!hand) throw new Error(`nobody does: ${line}`);
      await hand();
      continue;
    }
    const [role = '', file] = words.split(' < ');
    const { out } = await here.host.run(role, file === undefined ? '' : here.message);
    said.push(out);
  }
  return said.join('\n');
}

interface Trial {
  /** Keys of the policy beside the image. */
  readonly policy?: string;
  /** Variables of the processes. */
  readonly more?: Readonly<Record<string, string>>;
  /** Brings the symptom about. @returns what is seen beside the checks of the page */
  readonly breaks: (here: Scene) => Promise<string>;
  readonly hands?: (here: Scene) => Hands;
  /** What is so after the repair. */
  readonly whole: (here: Scene) => Promise<void>;
}

async function isSettledStatus(here: Scene): Promise<void> {
  const { exit, out } = await here.host.run('status');
  expect(out).not.toContain('PROBLEM');
  expect(exit, out).toBe(0);
}

const restartWorker = (here: Scene) => async () => {
  await here.worker.kill();
  here.worker = await here.host.start('work');
};
const restartReceiver = (here: Scene) => async () => {
  await here.receiver.kill();
  here.receiver = await here.host.start('receive');
};
const secretFile = ({ host }: Scene): string => host.environment['PORTOLAN_WEBHOOK_SECRET_FILE'] ?? '';
const metricsOf = async ({ internal }: Pod): Promise<string> => (await fetch(`${internal}/metrics`)).text();
/** The line of the log that contains a text, once it is there. */
const logged = async (pod: Pod, text: string): Promise<string> => {
  await expect.poll(() => pod.lines.join('\n')).toContain(text);
  return pod.lines.join('\n');
};
let right = '';

const TRIALS: Readonly<Record<string, Trial>> = {
  'A message was put aside': {
    breaks: async (here) => {
      await here.publish();
      await here.worker.stop();
      const commit = here.merge();
      const { database } = here;
      const times = { silence: 10, look: 1, longest: 600, wait: 0, known: 300 };
      const options = { url: here.server.url, connections: 2, database, supervises: true, times };
      const queues = await openQueues({ ...options, deliveries: 1, log: () => undefined });
      const push = { v: 1, kind: 'push', repository: 'sea/catalogs', branch: 'main', commit } as const;
      await queues.queue('work').send(messageOf(push));
      await queues.consume('work', { parallel: 1, handle: () => Promise.reject(new Error('down')) });
      await expect.poll(async () => (await queues.depths()).aside.messages).toBe(1);
      await queues.stop(0);
      here.worker = await here.host.start('work');
      return (await here.host.run('status')).out;
    },
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
    },
  },
  'Merges wait': {
    more: { PORTOLAN_PARALLEL: '1' },
    breaks: async (here) => {
      await here.publish();
      // The registry takes nothing of one catalog, and does not say so: one request holds up the worker.
      here.faults.of = ({ url }) => ({ kind: /manifests\/v4\.20$/.test(url) ? 'silence' : 'pass' });
      const harbour = String(sampleFiles()[CATALOG]);
      const one = here.merge();
      await here.push(one);
      const both = here.merge({
        'catalogs/v4.21/harbour-operator/catalog.yaml': harbour.replace(
          'runs harbours',
          'runs late harbours',
        ),
      });
      await here.push(both);
      await pause(5000);
      expect(
        here.github.statuses.filter(({ commit, state }) => commit === both && state === 'success'),
      ).toEqual([]);
      const text = await metricsOf(here.worker);
      expect(
        Number(/portolan_oldest_message_seconds\{queue="work"[^}]*\} (\S+)/.exec(text)?.[1]),
      ).toBeGreaterThan(1);
      return text;
    },
    hands: (here) => ({
      'kubectl scale deploy/portolan-work --replicas 4': async () => {
        for (let n = 0; n < 3; n++) await here.host.start('work');
      },
    }),
    whole: async (here) => {
      const tag = await here.digest('v4.21');
      await expect
        .poll(
          () =>
            here.github.statuses.filter(
              ({ context, state }) => context.endsWith('v4.21') && state === 'success',
            ).length,
          { timeout: 60_000 },
        )
        .toBeGreaterThan(1);
      expect(await here.digest('v4.21')).toEqual(expect.stringMatching(/^sha256:/));
      expect(tag).toBeDefined();
      here.faults.of = () => ({ kind: 'pass' });
    },
  },
  'No worker runs': {
    breaks: async (here) => {
      await here.worker.kill();
      const commit = here.merge();
      expect(await here.push(commit)).toBe(202);
      await pause(500);
      expect(here.github.statuses).toEqual([]);
      return '';
    },
    hands: (here) => ({ 'kubectl rollout restart deploy/portolan-work': restartWorker(here) }),
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
    },
  },
  'Statuses are missing': {
    breaks: async (here) => {
      const refusal: Fault = { kind: 'answer', status: 401, body: '{"message": "Bad credentials"}' };
      here.forge.of = ({ url }) => (url.includes('/statuses/') ? refusal : { kind: 'pass' });
      const commit = here.merge();
      expect(await here.push(commit)).toBe(202);
      await expect.poll(() => here.digest()).toBeDefined();
      const log = await logged(here.worker, 'cannot report the status');
      await here.settled();
      const of = { v: 1, kind: 'catalog', repository: 'sea/catalogs', branch: 'main', catalog: 'v4.20' };
      here.message = JSON.stringify({ ...of, commit });
      expect(here.github.statuses).toEqual([]);
      return log;
    },
    hands: (here) => ({
      'kubectl create secret generic portolan-app': () => {
        here.forge.of = () => ({ kind: 'pass' });
      },
    }),
    whole: async (here) => {
      await here.settled();
      expect(here.github.statuses.map(({ state }) => state)).toContain('success');
    },
  },
  'Publishes fail': {
    breaks: async (here) => {
      await here.publish();
      here.faults.of = () => ({ kind: 'answer', status: 401 });
      expect(await here.push(here.merge())).toBe(202);
      return logged(here.worker, 'failed');
    },
    hands: () => ({}),
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
    },
  },
  'PostgreSQL does not answer': {
    breaks: async (here) => {
      await here.publish();
      const before = await here.digest();
      await here.server.kill();
      const lost = here.merge();
      const ready = await fetch(`${here.receiver.internal}/readyz`);
      expect(await here.push(lost)).not.toBe(202);
      const text = await metricsOf(here.worker);
      expect(text).toMatch(/portolan_database_up\{[^}]*\} 0/);
      expect(await here.digest()).toBe(before);
      expect(ready.status).toBe(503);
      // Repaired by who looks after PostgreSQL.
      await here.server.start();
      return '/readyz /metrics';
    },
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
    },
  },
  'Webhooks were lost': {
    breaks: async (here) => {
      await here.publish();
      await here.receiver.kill();
      expect(await here.push(here.merge())).toBeUndefined();
      return '';
    },
    hands: (here) => ({ 'kubectl rollout restart deploy/portolan-receive': restartReceiver(here) }),
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
      await here.publish();
    },
  },
  'Webhooks are refused: another secret': {
    breaks: async (here) => {
      right = readFileSync(secretFile(here), 'utf8');
      writeFileSync(secretFile(here), 'another one\n');
      expect(await here.push(here.merge())).toBe(401);
      return logged(here.receiver, 'the signature does not match the body');
    },
    hands: (here) => ({
      'kubectl create secret generic portolan-webhook': () => writeFileSync(secretFile(here), right),
    }),
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
      await here.publish();
    },
  },
  'Webhooks are refused: a leaked or old secret': {
    breaks: async (here) => {
      right = readFileSync(secretFile(here), 'utf8');
      writeFileSync(secretFile(here), 'a new one\n');
      expect(await here.push(here.merge())).toBe(401);
      return '';
    },
    hands: (here) => ({
      'kubectl create secret generic portolan-webhook': () =>
        writeFileSync(secretFile(here), `a new one\n${right}`),
    }),
    whole: async (here) => {
      // The forge still signs with the old one.
      await here.publish();
      await isSettledStatus(here);
    },
  },
  'Webhooks are refused: no secret': {
    breaks: async (here) => {
      right = readFileSync(secretFile(here), 'utf8');
      writeFileSync(secretFile(here), '');
      const ready = await fetch(`${here.receiver.internal}/readyz`);
      expect(ready.status).toBe(503);
      return ready.text();
    },
    hands: (here) => ({
      'kubectl create secret generic portolan-webhook': () => writeFileSync(secretFile(here), right),
    }),
    whole: async (here) => {
      expect((await fetch(`${here.receiver.internal}/readyz`)).status).toBe(200);
      await here.publish();
    },
  },
  'The reconciler fails': {
    breaks: async (here) => {
      await here.publish();
      here.merge({ [POLICY]: 'version: 99\n' });
      expect((await here.host.run('reconcile')).exit).toBe(1);
      return '';
    },
    whole: async (here) => {
      here.rewrite(baseOf(here));
      expect((await here.host.run('reconcile')).exit).toBe(0);
    },
  },
  'A merge is not published': {
    breaks: async (here) => {
      await here.publish();
      const before = await here.digest();
      await here.publish({ [CATALOG]: 'schema: olm.package\nname: harbour-operator\n' });
      expect(await here.digest()).toBe(before);
      expect(here.github.statuses.at(-1)?.state).toBe('failure');
      return `merged, not published ${(await here.host.run('status')).out}`;
    },
    whole: async (here) => {
      await here.publish();
      await isSettledStatus(here);
    },
  },
  'The status shows a problem: a moved tag': {
    breaks: async (here) => {
      await here.publish();
      const first = (await here.digest()) ?? '';
      await here.publish();
      await here.moveTag(first);
      return '';
    },
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
    },
  },
  'The status shows a problem: a restored database': {
    breaks: async (here) => {
      await here.publish();
      await here.database.query('create table backup as select * from portolan.record');
      await here.publish();
      right = (await here.digest()) ?? '';
      await here.database.query('truncate portolan.record');
      await here.database.query('insert into portolan.record select * from backup');
      return '';
    },
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
      expect(await here.digest()).toBe(right);
    },
  },
  'The status shows a problem: a deleted image': {
    breaks: async (here) => {
      await here.publish();
      right = (await here.digest()) ?? '';
      await here.deleteTag();
      return '';
    },
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
      expect(await here.digest()).toBe(right);
    },
  },
  'The status shows a problem: an unreadable record': {
    breaks: async (here) => {
      await here.publish();
      const [key = ''] = await here.records.list('published/v4.20/');
      await here.records.put(key, new TextEncoder().encode('spoilt'));
      return (await here.host.run('status')).out;
    },
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
    },
  },
  'The status shows a problem: a removed catalog or ring': {
    breaks: async (here) => {
      await here.publish();
      here.merge({ 'catalogs/v4.21/harbour-operator/catalog.yaml': null });
      expect((await here.host.run('status')).out).toContain('v4.21');
      return '';
    },
    whole: async (here) => {
      await here.settled();
      expect((await here.host.run('status')).out).toContain('(retired, image kept)');
    },
  },
  'The branch was rewritten': {
    breaks: async (here) => {
      const base = await here.publish();
      await here.publish();
      here.rewrite(base);
      const other = String(sampleFiles()[CATALOG]).replace('runs harbours', 'rewrites');
      expect(await here.push(here.merge({ [CATALOG]: other }))).toBe(202);
      return logged(here.worker, 'failed');
    },
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
    },
  },
  'The fence of a catalog cannot be read': {
    breaks: async (here) => {
      await here.publish();
      const [key = ''] = await here.records.list('fence/v4.20/');
      await here.records.put(key, new TextEncoder().encode('spoilt'));
      const others = await here.digest('v4.21');
      here.merge({
        'catalogs/v4.21/harbour-operator/catalog.yaml': String(sampleFiles()[CATALOG]),
        [CATALOG]: String(sampleFiles()[CATALOG]).replace('runs harbours', 'runs more'),
      });
      await here.host.run('reconcile');
      await expect.poll(() => here.digest('v4.21')).not.toBe(others);
      return '';
    },
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
    },
  },
  'A ring does not move': {
    policy: "rings: [{tag: '{catalog}-canary'}, {tag: '{catalog}', after: 1m}]",
    breaks: async (here) => {
      await here.publish();
      await here.host.run('reconcile');
      await here.settled();
      const of = { v: 1, kind: 'ring', repository: 'sea/catalogs', branch: 'main', catalog: 'v4.20' };
      await here.host.run('ring', JSON.stringify({ ...of, act: 'hold', by: 'anna', why: 'wait' }));
      await soaked(here);
      expect((await here.host.run('reconcile')).exit).toBe(0);
      await here.settled();
      expect([await here.digest('v4.20-canary'), await here.digest()]).toEqual([
        expect.stringMatching(/^sha256:/),
        undefined,
      ]);
      here.message = JSON.stringify({ ...of, act: 'release', by: 'anna', why: 'tested' });
      return '';
    },
    whole: async (here) => {
      await here.settled();
      expect(await here.digest()).toBe(await here.digest('v4.20-canary'));
    },
  },
  'A hold is refused': {
    policy: "rings: [{tag: '{catalog}-canary'}, {tag: '{catalog}', after: 72h}]",
    breaks: async (here) => {
      await here.publish();
      const of = { v: 1, kind: 'ring', repository: 'sea/catalogs', branch: 'main', catalog: 'v4.20' };
      const hold = { ...of, act: 'hold', by: 'anna', why: 'loses data' };
      const { exit, out } = await here.host.run('ring', JSON.stringify({ ...hold, bundle: 'harbor.v1.0.0' }));
      expect(exit).toBe(1);
      here.message = JSON.stringify({ ...hold, bundle: 'harbour-operator.v1.2.0' });
      return out;
    },
    whole: async (here) => expect((await here.host.run('rings')).out).toContain('harbour-operator.v1.2.0'),
  },
  'A worker is killed again and again': {
    breaks: async (here) => {
      here.faults.of = () => ({ kind: 'silence' });
      expect(await here.push(here.merge())).toBe(202);
      await expect.poll(() => here.worker.lines.length).toBeGreaterThan(0);
      const active = () =>
        here.database.query(
          "select 1 from portolan_queue.job where name = 'work' and state = 'active' and data->>'body' like '%\"catalog\"%'",
        );
      await expect.poll(async () => (await active()).length).toBeGreaterThan(0);
      await here.worker.kill();
      here.faults.of = () => ({ kind: 'pass' });
      here.worker = await here.host.start('work');
      return logged(here.worker, 'the worker stopped before the end');
    },
    hands: (here) => ({ 'helm upgrade portolan CHART --reuse-values': restartWorker(here) }),
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
    },
  },
  'PostgreSQL was lost': {
    breaks: async (here) => {
      await here.publish();
      right = (await here.digest()) ?? '';
      await Promise.all([here.worker.stop(), here.receiver.stop()]);
      await here.database.query('drop schema portolan cascade');
      await here.database.query('drop schema portolan_queue cascade');
      return '';
    },
    hands: (here) => ({
      'kubectl rollout restart deploy/portolan-receive deploy/portolan-work': async () => {
        here.receiver = await here.host.start('receive');
        here.worker = await here.host.start('work');
      },
    }),
    whole: async (here) => {
      await here.settled();
      await isSettledStatus(here);
      expect(await here.digest()).toBe(right);
    },
  },
  'The database grows': {
    breaks: async (here) => {
      await here.publish();
      await here.publish();
      await here.database.query("update portolan.record set written = now() - interval '40 days'");
      expect(
        (await here.records.list('documents/v4.20/')).filter((key) => key.endsWith('receipt.json')),
      ).toHaveLength(2);
      return '';
    },
    hands: () => ({ 'helm upgrade portolan CHART --reuse-values': () => undefined }),
    whole: async (here) => {
      expect(
        (await here.records.list('documents/v4.20/')).filter((key) => key.endsWith('receipt.json')),
      ).toHaveLength(1);
      await isSettledStatus(here);
    },
  },
};

/** The published commit of the catalog. */
function baseOf({ github }: Scene): string {
  return github.statuses.find(({ state }) => state === 'success')?.commit ?? '';
}

/** What the rings wait for was so an hour ago. */
async function soaked({ records }: Scene): Promise<void> {
  for (const key of await records.list('rings/')) {
    const earlier = (time: string) => new Date(Date.parse(time) - 3_600_000).toISOString();
    const text = new TextDecoder().decode((await records.get(key))?.bytes);
    await records.put(key, new TextEncoder().encode(text.replaceAll(/\d{4}-[\d-]+T[\d:.]+Z/g, earlier)));
  }
}

test('every section of the page is tried', () => {
  const titles = [...PAGE.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  expect(Object.keys(TRIALS).length).toBeGreaterThanOrEqual(24);
  expect([...new Set(Object.keys(TRIALS).map((title) => title.split(': ')[0]))]).toEqual(titles);
  for (const title of titles)
    expect(PAGE.split(`## ${title}`)[1]).toMatch(/\*\*You see\*\*[\s\S]*\*\*Check\*\*[\s\S]*\*\*Repair\*\*/);
  // No step is SQL.
  expect(PAGE).not.toMatch(/\b(?:delete from|update|insert into) /i);
});

describe.skipIf(!isComplete)('on PostgreSQL', () => {
  test.each(Object.keys(TRIALS))('%s', { timeout: 600_000 }, async (title) => {
    const { breaks, hands, whole, ...settings } = TRIALS[title] as Trial;
    const { seen, check, repair } = sectionOf(title);
    const here = await scene(settings);
    const found = `${await breaks(here)}\n${await run(here, check)}`;
    for (const words of seen) expect(found).toContain(words);
    if (title === 'Publishes fail') here.faults.of = () => ({ kind: 'pass' });
    await run(here, repair, hands?.(here));
    await whole(here);
  });
});
