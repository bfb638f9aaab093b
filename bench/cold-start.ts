/**
 * What a merge costs a sandbox that has nothing yet: requests, bytes, CPU and memory until every file of the catalogs
 * that changed is read, over git's smart HTTP with a delay before each answer; beside a clone by git, as it was before.
 * Each merge is read by a process of its own.
 *
 *     node scripts/run.mjs bench/cold-start.ts [--history BUNDLE] [--delay MS] [--catalogs 7] [--merges 10]
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { openGitClient } from '../pipeline/git/http/client.ts';
import { openHttpRepository } from '../pipeline/git/http/repository.ts';
import { isAncestor } from '../pipeline/git/merge.ts';
import { sourceFile } from '../pipeline/git/source.ts';
import { entryAt, listFiles } from '../pipeline/git/tree.ts';
import { openTransport } from '../pipeline/oci/registry/client.ts';
import { backend } from '../test/fakes/git-server.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    delay: { type: 'string', default: '50' },
    catalogs: { type: 'string', default: '7' },
    merges: { type: 'string', default: '10' },
    /** Of a process that reads: what, and where. */
    read: { type: 'string' },
    url: { type: 'string', default: '' },
  },
});

interface Figures {
  readonly requests: number;
  readonly bytes: number;
  /** Seconds. */
  readonly wall: number;
  readonly cpu: number;
  /** MiB at the peak, and before anything was read. */
  readonly memory: number;
  readonly before: number;
}

interface Merge {
  readonly before: string;
  readonly commit: string;
  readonly catalogs: readonly string[];
}

if (values.read === undefined) await compare();
else console.log(JSON.stringify(await read(JSON.parse(values.read) as Merge, values.url)));

/** Reads every file of a merge's catalogs through the git client of the functions, and what that took. */
async function read({ before, commit, catalogs }: Merge, url: string): Promise<Figures> {
  const memory = (): number => process.resourceUsage().maxRSS / 1024;
  const [start, atStart, spent] = [performance.now(), memory(), process.cpuUsage()];
  const { host } = new URL(url);
  const transport = openTransport({ internal: [host], plainHttp: [host] });
  const client = openGitClient({ url, transport, authorization: async () => undefined });
  // As the functions ask before they read.
  await client.lacking();
  await client.tip('main');
  const repository = openHttpRepository({ client });
  const { objects } = repository;
  await repository.bring([commit, before]);
  if (!(await isAncestor(repository, before, commit))) throw new Error(`${before} is not below ${commit}`);
  for (const catalog of catalogs) {
    const entry = await entryAt(objects, commit, `catalogs/${catalog}`);
    const files = entry ? await listFiles(objects, entry.id) : [];
    await Promise.all(files.map((file) => sourceFile(objects, file).read()));
  }
  const { user, system } = process.cpuUsage(spent);
  const { requests, received } = transport.traffic().get(host) ?? { requests: 0, received: 0 };
  const wall = (performance.now() - start) / 1000;
  transport.close();
  return { requests, bytes: received, wall, cpu: (user + system) / 1e6, memory: memory(), before: atStart };
}

/** Serves the history by git, and prints what each merge takes in a process of its own; then what a clone takes. */
async function compare(): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'portolan-cold-'));
  const directory = join(scratch, 'catalogs.git');
  execFileSync('git', ['clone', '--quiet', '--bare', resolve(values.history), directory]);
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-C', directory, ...words], { encoding: 'utf8' }).trim();
  git('config', 'uploadpack.allowFilter', 'true');
  git('update-ref', 'refs/heads/main', 'HEAD');
  const server = createServer((request, response) =>
    setTimeout(() => backend(scratch, request, response), Number(values.delay)),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/catalogs.git`;
  const merges = mergesIn(git).filter(({ catalogs }) => catalogs.length === Number(values.catalogs));
  const all: Figures[] = [];
  for (const merge of merges.slice(-Number(values.merges))) {
    const words = ['scripts/run.mjs', 'bench/cold-start.ts', '--url', url, '--read', JSON.stringify(merge)];
    const { stdout } = await promisify(execFile)(process.execPath, words);
    all.push(JSON.parse(stdout) as Figures);
  }
  console.log(
    `${all.length} merges that change ${values.catalogs} catalogs each, ${values.delay} ms before each answer`,
  );
  for (const name of ['requests', 'bytes', 'wall', 'cpu', 'before', 'memory'] as const) {
    const figures = all.map((one) => one[name]).sort((a, b) => a - b);
    const at = (part: number): string => (figures[Math.ceil(figures.length * part) - 1] ?? 0).toFixed(2);
    console.log(`${name}: p50 ${at(0.5)}, most ${at(1)}`);
  }
  await cloned(url, scratch);
  server.close();
  server.closeAllConnections();
  rmSync(scratch, { recursive: true, force: true });
}

/** Commits of the branch with the catalogs that each changes, the oldest first. */
function mergesIn(git: (...words: readonly string[]) => string): Merge[] {
  const log = git('log', '--first-parent', '--reverse', '--format=%x00%H %P', '--name-only', 'main');
  return log.split('\0').flatMap((text) => {
    const [ids = '', ...paths] = text.split('\n').filter((line) => line !== '');
    const [commit = '', before = ''] = ids.split(' ');
    const names = paths.flatMap((path) => /^catalogs\/([^/]+)\//.exec(path)?.[1] ?? []);
    return before === '' ? [] : [{ before, commit, catalogs: [...new Set(names)] }];
  });
}

/** What git takes to clone the whole repository. */
async function cloned(url: string, scratch: string): Promise<void> {
  const [times, into] = [join(scratch, 'times'), join(scratch, 'clone')];
  const words = ['-f', '%U %S %M %e', '-o', times, 'git', 'clone', '--quiet', '--bare', url, into];
  await promisify(execFile)('/usr/bin/time', words);
  const [user = 0, system = 0, memory = 0, wall = 0] = readFileSync(times, 'utf8')
    .trim()
    .split(' ')
    .map(Number);
  const size = spawnSync('du', ['-sk', into], { encoding: 'utf8' }).stdout.split('\t')[0];
  console.log(
    `git clone: ${wall} s, ${(user + system).toFixed(2)} s CPU, ${(memory / 1024).toFixed(0)} MiB at most, ${size} KiB on disk`,
  );
}
