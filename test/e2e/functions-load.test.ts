/** Bursts of webhooks through the deployed API, and what a function takes to start. */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { cloud, fakeGitHub, pushPayload } from '../fakes/cloud.ts';
import { cloudQueues } from '../fakes/cloud-queues.ts';
import { folder } from '../fakes/folder.ts';
import { gitServer } from '../fakes/git-server.ts';
import { inParallel } from '../fakes/parallel.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { sampleFiles, sampleRepository } from '../fakes/sample.ts';
import { isOnPath, run } from '../fakes/tools.ts';

beforeAll(buildProgram);

/** Deliveries in a burst, and catalogs that the last one of them changes. */
const MANY = Number(process.env['PORTOLAN_LOAD'] ?? 40);
const CATALOGS = 10;
/** Until all is handled, in s: so that a run ends. */
const LONGEST = 3000;
const isComplete = ['ministack', 'aws', 'docker-registry', 'skopeo'].every(isOnPath);

describe.skipIf(!isComplete)('on a stand-in for AWS', () => {
  test('every webhook of a burst that is accepted is handled, and none is put aside', {
    timeout: 3_600_000,
  }, async () => {
    const registry = await dockerRegistry();
    const path = '.github/portolan.yaml';
    const files = sampleFiles();
    const policy = String(files[path]).replace(
      'registry.example.com/sea/catalog',
      `${registry.host}/sea/catalog`,
    );
    const harbour = String(files['catalogs/v4.20/harbour-operator/catalog.yaml']);
    const catalogs = Array.from({ length: CATALOGS }, (_, i) => `v4.${20 + i}`);
    const sample = sampleRepository({ [path]: policy });
    onTestFinished(() => sample.remove());
    const commits = [sample.base];
    for (let n = 1; n < MANY; n++) {
      const catalog = catalogs[n % CATALOGS];
      const change = { [`catalogs/${catalog}/harbour-operator/catalog.yaml`]: `${harbour}\n# ${n}\n` };
      commits.push(sample.commit(change, { parents: [commits.at(-1) ?? ''], branch: 'burst' }));
    }
    const served = join(folder(), 'catalogs.git');
    execFileSync('git', ['clone', '--quiet', '--bare', sample.directory, served]);
    execFileSync('git', ['-C', served, 'config', 'uploadpack.allowFilter', 'true']);
    execFileSync('git', ['-C', served, 'update-ref', 'refs/heads/main', commits.at(-1) ?? '']);
    const github = await fakeGitHub();
    const at = await cloud({
      git: await gitServer(served),
      branch: 'main',
      registry: registry.host,
      github: github.url,
    });
    const queues = cloudQueues(at);
    const began = performance.now();
    const accepted = new Set<string>();
    let again = 0;
    for (let left: readonly string[] = commits; left.length > 0; again += left.length) {
      await inParallel(left, async (commit) => {
        if ((await at.push(pushPayload(commit, 'main'))) === 202) accepted.add(commit);
      });
      // On a busy machine the API gives up on a function: GitHub lists those deliveries, to be sent again.
      left = commits.filter((commit) => !accepted.has(commit));
    }
    const sent = (performance.now() - began) / 1000;
    expect(accepted.size).toBe(MANY);
    await queues.drained('Queue', LONGEST);
    const drained = (performance.now() - began) / 1000;
    await queues.drained('Reports', LONGEST);
    const told = (performance.now() - began) / 1000;
    expect(await queues.count('Aside')).toBe(0);
    const handled = new Set(github.statuses.map(({ commit }) => commit));
    expect([...accepted].filter((commit) => !handled.has(commit))).toEqual([]);
    console.log(
      `${MANY} webhooks sent and accepted in ${sent.toFixed(1)} s (${again} of them again), the queue drained after ${drained.toFixed(1)} s, all reported after ${told.toFixed(1)} s`,
    );
    // Each tag names what the newest commit's own receipt says.
    const listing = ['--bucket', at.outputs['Records'] ?? '', '--prefix', 'published/'];
    const { Contents } = (await at.aws('s3api', 'list-objects-v2', ...listing)) as {
      Contents: { Key: string }[];
    };
    expect(Contents).toHaveLength(CATALOGS);
    for (const { Key } of Contents) {
      const bucket = ['--bucket', at.outputs['Records'] ?? ''];
      const file = join(folder(), 'published.json');
      await at.aws('s3api', 'get-object', ...bucket, '--key', Key, file);
      const { image, digest, commit } = JSON.parse(execFileSync('cat', [file], { encoding: 'utf8' }));
      expect(commit).toBe(commits.at(-1));
      const words = ['inspect', '--format', '{{.Digest}}', ...registry.skopeo, `docker://${image}`];
      expect((await run('skopeo', ...words)).toString().trim()).toBe(digest);
    }
  });
});

/** What every function finds in its environment. */
const ENVIRONMENT = {
  PATH: process.env['PATH'],
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  PORTOLAN_SOURCES: JSON.stringify([
    { repository: 'sea/catalogs', id: 1, branch: 'main', url: 'https://example.com/x.git' },
  ]),
  PORTOLAN_QUEUE: 'https://example.com/queue',
  PORTOLAN_REPORTS: 'https://example.com/queue',
  PORTOLAN_TABLE: 'table',
  PORTOLAN_BUCKET: 'bucket',
};

test('from the start of a process to a handler that is ready, next to a bare one', () => {
  const bare = join(folder(), 'index.mjs');
  execFileSync('sh', ['-c', `echo 'export async function handler() {}' > ${bare}`]);
  const rows = readdirSync('dist/functions').map(
    (name) => [name, `dist/functions/${name}/index.mjs`] as const,
  );
  for (const [name, file] of [['bare', bare] as const, ...rows]) {
    const runs = Array.from({ length: 7 }, () => ready(file));
    const least = (of: (run: Ready) => number): string => Math.min(...runs.map(of)).toFixed(0);
    const kilobytes = Math.round(statSync(file).size / 1000);
    const size = `${name.padEnd(10)} ${String(kilobytes).padStart(5)} kB`;
    console.log(
      `${size}, ready after ${least(({ wall }) => wall)} ms, ${least(({ cpu }) => cpu)} ms of CPU, ${least(({ memory }) => memory)} MB`,
    );
    // Of the largest, 243 kB are libzstd, 152 kB re2js, 84 kB the methods of @octokit/rest and 58 kB js-yaml (ADR 0002).
    // Each new rule adds some 2 kB.
    expect(kilobytes).toBeLessThan(3950);
  }
});

interface Ready {
  /** From the start of the process, in ms. */
  readonly wall: number;
  /** In ms. */
  readonly cpu: number;
  /** Resident, in MB. */
  readonly memory: number;
}

/** A process of its own that imports a function, as a cold sandbox does. */
function ready(file: string): Ready {
  const call = [
    `const { handler } = await import(${JSON.stringify(pathToFileURL(file).href)});`,
    `if (typeof handler !== 'function') process.exit(1);`,
    'const { user, system } = process.cpuUsage();',
    'const memory = process.resourceUsage().maxRSS / 1000;',
    'console.log(JSON.stringify({ wall: performance.now(), cpu: (user + system) / 1000, memory }));',
  ].join('\n');
  const parameters = ['--no-warnings', '--input-type=module', '-e', call];
  return JSON.parse(execFileSync(process.execPath, parameters, { env: ENVIRONMENT, encoding: 'utf8' }));
}
