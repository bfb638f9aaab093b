/**
 * From a merge to its tags: the handlers of `work` read the branch over git's smart HTTP with a delay before each
 * answer, build the catalogs that changed, push them into a registry and move the tags. Each merge in a process of its
 * own, as in a sandbox that has nothing yet, its catalogs one after the other; on AWS they run side by side.
 *
 *     node scripts/run.mjs bench/merge-to-tag.ts [--history BUNDLE] [--delay MS] [--merges 30]
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { settingsFrom } from '../functions/aws/env.ts';
import { bucketMemory } from '../functions/aws/store.ts';
import { branchOpener } from '../functions/branch.ts';
import { createRegistryClient } from '../pipeline/oci/registry/client.ts';
import { handleMessage } from '../pipeline/publish/delivery/handle-delivery.ts';
import { messageOf } from '../pipeline/publish/delivery/message.ts';
import { recordFence } from '../pipeline/publish/fence-records.ts';
import { directoryRecords } from '../pipeline/publish/records/directory.ts';
import { backend } from '../test/fakes/git-server.ts';
import { countedRegistry } from './counted-registry.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    delay: { type: 'string', default: '50' },
    merges: { type: 'string', default: '30' },
    /** Of a process that publishes: a commit, and where. */
    publish: { type: 'string' },
    git: { type: 'string', default: '' },
    registry: { type: 'string', default: '' },
    records: { type: 'string', default: '' },
  },
});

const REPOSITORY = 'sea/catalogs';

interface Figures {
  readonly catalogs: number;
  /** Seconds from the message to the end, without the start of the process. */
  readonly wall: number;
  readonly cpu: number;
  /** Seconds from the message to the last tag. */
  readonly moved: number;
  /** MiB at the peak. */
  readonly memory: number;
}

interface Counted extends Figures {
  /** Bytes from git, to the registry and from it. */
  readonly git: number;
  readonly sent: number;
  readonly received: number;
  readonly requests: number;
}

if (values.publish === undefined) await compare();
else console.log(JSON.stringify(await publish(values.publish)));

/** Handles the push of a commit as `work` does, until its queue is empty. */
async function publish(commit: string): Promise<Figures> {
  const [start, spent] = [performance.now(), process.cpuUsage()];
  const settings = settingsFrom({
    PORTOLAN_SOURCES: JSON.stringify([{ repository: REPOSITORY, id: 1, branch: 'main', url: values.git }]),
    PORTOLAN_QUEUE: 'none',
    PORTOLAN_REPORTS: 'none',
    PORTOLAN_TABLE: 'none',
    PORTOLAN_BUCKET: 'none',
    PORTOLAN_PLAIN_HTTP: `${new URL(values.git).host},${values.registry}`,
  });
  const { plainHttp } = settings;
  const log = (): void => undefined;
  const records = directoryRecords(values.records);
  const client = createRegistryClient({ plainHttp, internal: plainHttp });
  const queue: string[] = [];
  let moved = 0;
  const ports = {
    open: branchOpener(settings, { token: undefined, log }),
    registry: client,
    fence: recordFence(records),
    records,
    queue: { send: async ({ body }: { readonly body: string }) => void queue.push(body) },
    // The first report of a publish is asked for once its tag is moved.
    reports: {
      send: async ({ body }: { readonly body: string }) => {
        if (body.includes('"what":"event"')) moved = performance.now() - start;
      },
    },
    now: () => new Date(),
    log,
  };
  await ports.queue.send(messageOf({ v: 1, kind: 'push', repository: REPOSITORY, branch: 'main', commit }));
  let catalogs = -1;
  for (let body = queue.shift(); body !== undefined; body = queue.shift()) {
    await handleMessage(body, ports, { store: bucketMemory(records) });
    catalogs++;
  }
  client.close();
  const { user, system } = process.cpuUsage(spent);
  const memory = process.resourceUsage().maxRSS / 1024;
  return {
    catalogs,
    wall: performance.now() / 1000,
    cpu: (user + system) / 1e6,
    moved: moved / 1000,
    memory,
  };
}

/** Publishes each of the last merges in a process of its own, and prints what they took. */
async function compare(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'portolan-merges-'));
  const registry = await countedRegistry();
  const directory = join(scratch, 'catalogs.git');
  execFileSync('git', ['clone', '--quiet', '--bare', resolve(values.history), directory]);
  const commits = withPolicy(directory, Number(values.merges), registry.host);
  let fromGit = 0;
  const server = createServer((request, response) => {
    counted(response, (bytes) => {
      fromGit += bytes;
    });
    setTimeout(() => backend(scratch, request, response), Number(values.delay));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const git = `http://127.0.0.1:${(server.address() as AddressInfo).port}/catalogs.git`;
  const all: Counted[] = [];
  for (const [i, commit] of commits.entries()) {
    execFileSync('git', ['-C', directory, 'update-ref', 'refs/heads/main', commit]);
    const at = ['--git', git, '--registry', registry.host, '--records', join(scratch, 'records')];
    const words = ['scripts/run.mjs', 'bench/merge-to-tag.ts', '--publish', commit, ...at];
    registry.take();
    fromGit = 0;
    const { stdout } = await promisify(execFile)(process.execPath, words);
    const { sent, received, requests } = registry.take();
    const figures = JSON.parse(stdout) as Figures;
    const one: Counted = { ...figures, git: fromGit, sent, received, requests };
    console.log(`${i === 0 ? 'first publish' : `merge ${i}`}: ${JSON.stringify(one)}`);
    if (i > 0 && one.catalogs > 0) all.push(one);
  }
  console.log(
    `${all.length} merges that change a catalog, ${values.delay} ms before each answer of git, load ${loadavg()[0]?.toFixed(0)}`,
  );
  console.log('| | p50 | p95 | maximum |\n|---|---|---|---|');
  for (const name of [
    'catalogs',
    'moved',
    'wall',
    'cpu',
    'memory',
    'git',
    'sent',
    'received',
    'requests',
  ] as const) {
    const figures = all.map((one) => one[name]).sort((a, b) => a - b);
    const at = (part: number): string => (figures[Math.ceil(figures.length * part) - 1] ?? 0).toFixed(2);
    console.log(`| ${name} | ${at(0.5)} | ${at(0.95)} | ${at(1)} |`);
  }
  server.close();
  server.closeAllConnections();
  await registry.close();
  rmSync(scratch, { recursive: true, force: true });
}

/** The last commits of the history, each with a policy that publishes all catalogs; the first one is where they begin. */
function withPolicy(directory: string, count: number, host: string): string[] {
  const git = (words: readonly string[], input?: string): string =>
    execFileSync('git', ['-C', directory, ...words], {
      encoding: 'utf8',
      input,
      env: {
        ...process.env,
        GIT_INDEX_FILE: join(directory, 'policy-index'),
        GIT_AUTHOR_NAME: 'a',
        GIT_AUTHOR_EMAIL: 'a@example.com',
        GIT_COMMITTER_NAME: 'a',
        GIT_COMMITTER_EMAIL: 'a@example.com',
      },
    }).trim();
  git(['config', 'uploadpack.allowFilter', 'true']);
  git(['config', 'uploadpack.allowAnySHA1InWant', 'true']);
  const catalogs = `publish: {catalogs: {'v*': {image: '${host}/sea/catalog:{catalog}'}}}`;
  const policy = git(
    ['hash-object', '-w', '--stdin'],
    `apiVersion: portolan/v1alpha1\nkind: Portolan\n${catalogs}\n`,
  );
  const last = git(['rev-list', '--first-parent', `--max-count=${count + 1}`, '--reverse', 'HEAD']).split(
    '\n',
  );
  const made: string[] = [];
  for (const commit of last) {
    git(['read-tree', commit]);
    git(['update-index', '--add', '--cacheinfo', `100644,${policy},.github/portolan.yaml`]);
    const parent = made.at(-1) ?? git(['rev-parse', `${commit}^1`]);
    made.push(git(['commit-tree', git(['write-tree']), '-p', parent, '-m', 'merge']));
  }
  return made;
}

/** Counts the bytes of an answer while it is written. */
function counted(response: ServerResponse, count: (bytes: number) => void): void {
  const { write, end } = response;
  const bytesOf = (chunk: unknown): number =>
    typeof chunk === 'string' || chunk instanceof Uint8Array ? Buffer.byteLength(chunk) : 0;
  response.write = ((...all: Parameters<typeof write>) => {
    count(bytesOf(all[0]));
    return write.apply(response, all);
  }) as typeof write;
  response.end = ((...all: Parameters<typeof end>) => {
    count(bytesOf(all[0]));
    return end.apply(response, all);
  }) as typeof end;
}
