/**
 * How long it takes to copy many small images from one registry (Debian's docker-registry) to
 * another, beside regsync, `crane copy` 16 at a time, skopeo sync, `oc image mirror` and oc-mirror, as far as they
 * are on the PATH; over loopback as it is, or with a simulated distance to both. For each tool: seconds, seconds of CPU,
 * MiB at the peak (of its largest process), and requests to the source and the destination, as their access logs say.
 *
 *     node scripts/build.mjs && node scripts/run.mjs test/bench/mirror-copy.ts [IMAGES] [MILLISECONDS] [RUNS]
 */
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { digestOf } from '../../pipeline/oci/digest.ts';
import { createRegistryClient } from '../../pipeline/oci/registry/client.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import type { Manifest } from '../../pipeline/ports.ts';
import { distance } from '../fakes/distance.ts';
import { freePort, isOnPath } from '../fakes/tools.ts';

const [images = 2000, roundTrip = 0, runs = 3] = process.argv.slice(2).map(Number);
/** Images in one repository. */
const IN_REPOSITORY = 20;
/** Tools that take one image after the other get fewer of them; the time is scaled. */
const FEW = 100;

interface Registry {
  /** Where tools find it, and where it really is. */
  readonly host: string;
  readonly near: string;
  /** How many requests it has had. */
  readonly requests: () => number;
  readonly stop: () => void;
}

async function startRegistry(folder: string): Promise<Registry> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const near = `127.0.0.1:${port}`;
  const config = join(folder, 'config.yml');
  const log = `${folder}.log`;
  const lines = ['version: 0.1', 'log: {level: error}'];
  lines.push(`storage: {filesystem: {rootdirectory: ${folder}}}`, `http: {addr: "${near}"}`);
  writeFileSync(config, lines.join('\n'));
  const children: ChildProcess[] = [
    spawn('docker-registry', ['serve', config], { stdio: ['ignore', openSync(log, 'w'), 'ignore'] }),
  ];
  const requests = (): number => readFileSync(log, 'utf8').match(REQUEST)?.length ?? 0;
  const stop = (): void => {
    for (const child of children) child.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; !(await fetch(`http://${near}/v2/`).catch(() => undefined)); tries++) {
    if (tries > 100) throw new Error('docker-registry does not answer');
    await new Promise((done) => setTimeout(done, 50));
  }
  if (roundTrip === 0) return { host: near, near, requests, stop };
  const far = await freePort();
  const line = fork('scripts/run.mjs', process.argv.slice(1), { stdio: 'inherit' });
  children.push(line);
  await new Promise((done) => {
    line.once('message', done);
    line.send({ from: far, to: port });
  });
  return { host: `127.0.0.1:${far}`, near, requests, stop };
}

/** One request in the access log. */
const REQUEST = /"(?:GET|HEAD|POST|PUT|PATCH|DELETE) \/v2\//g;

interface Named {
  readonly repository: string;
  readonly tag: string;
}

/** Neighbours are in different repositories, as in a sorted mapping they seldom are: the kind order for all. */
const repositoryCount = Math.ceil(images / IN_REPOSITORY);
const named: readonly Named[] = Array.from({ length: images }, (_, i) => ({
  repository: `org/app-${i % repositoryCount}`,
  tag: `v${Math.floor(i / repositoryCount)}`,
}));

/** A layer that the repository shares, one of its own, 10 kB each, and a config. */
async function fill({ near }: Registry): Promise<void> {
  const client = createRegistryClient({ plainHttp: [near], internal: [near] });
  const blob = (text: string) => {
    const bytes = Buffer.from(text.repeat(Math.ceil(10_000 / text.length)));
    const open = async function* (from: number) {
      yield bytes.subarray(from);
    };
    return { digest: digestOf(bytes), size: bytes.length, open };
  };
  const one = async ({ repository, tag }: Named): Promise<void> => {
    const [config, ...layers] = [
      blob(`{"n":"${repository}:${tag}"}`),
      blob(repository),
      blob(repository + tag),
    ];
    const describe = (mediaType: string, { digest, size }: { digest: string; size: number }) => ({
      mediaType: `application/vnd.oci.image.${mediaType}`,
      digest,
      size,
    });
    const json = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: describe('config.v1+json', config as { digest: string; size: number }),
      layers: layers.map((layer) => describe('layer.v1.tar', layer)),
    };
    const bytes = Buffer.from(JSON.stringify(json));
    const root: Manifest = { mediaType: json.mediaType, digest: digestOf(bytes), bytes };
    const to = { kind: 'tag', registry: near, repository, tag } as const;
    await pushImage(client, to, { image: { root, manifests: [], blobs: [config ?? blob(''), ...layers] } });
  };
  // One after the other in a repository: docker-registry refuses manifests while their blobs come twice.
  const repositories = [...new Set(named.map(({ repository }) => repository))];
  for (let i = 0; i < repositories.length; i += 16) {
    await Promise.all(
      repositories.slice(i, i + 16).map(async (repository) => {
        for (const image of named.filter((other) => other.repository === repository)) await one(image);
      }),
    );
  }
  client.close();
}

interface Tool {
  readonly name: string;
  readonly program: string;
  readonly images: number;
  readonly run: (
    from: Registry,
    to: Registry,
    folder: string,
  ) => readonly [string, readonly string[], string?];
}

const TOOLS: readonly Tool[] = [
  {
    name: 'portolan mirror copy',
    program: 'node',
    images,
    run: (from, to, folder) => {
      const mapping = join(folder, 'mapping.txt');
      const lines = named.map(({ repository, tag }) => {
        const name = `${repository}:${tag}`;
        return `${from.host}/${name}=${to.host}/${name}\n`;
      });
      writeFileSync(mapping, lines.join(''));
      const hosts = ['--insecure', from.host, '--insecure', to.host];
      return [process.execPath, [resolve('dist/portolan.mjs'), 'mirror', 'copy', mapping, ...hosts]];
    },
  },
  {
    name: 'regsync once',
    program: 'regsync',
    images,
    run: (from, to, folder) => {
      const config = join(folder, 'regsync.yml');
      const creds = [from, to].map(({ host }) => ({
        registry: host,
        tls: 'disabled',
        reqConcurrent: 48,
        reqPerSec: 100000,
      }));
      const repositories = [...new Set(named.map(({ repository }) => repository))];
      const sync = repositories.map((repository) => ({
        source: `${from.host}/${repository}`,
        target: `${to.host}/${repository}`,
        type: 'repository',
      }));
      writeFileSync(config, JSON.stringify({ version: 1, creds, defaults: { parallel: 48 }, sync }));
      return ['regsync', ['once', '-c', config, '-v', 'error']];
    },
  },
  {
    name: 'crane copy, xargs -P16',
    program: 'crane',
    images: Math.min(images, 400),
    run: (from, to) => {
      const list = named
        .slice(0, 400)
        .map(({ repository, tag }) => `${from.host}/${repository}:${tag} ${to.host}/${repository}:${tag}\n`);
      return ['xargs', ['-P16', '-n2', 'crane', 'copy', '--insecure'], list.join('')];
    },
  },
  {
    name: 'skopeo sync',
    program: 'skopeo',
    images: Math.min(FEW, images),
    run: (from, to, folder) => {
      const source = join(folder, 'skopeo.yml');
      const repositories = [...new Set(named.slice(0, FEW).map(({ repository }) => repository))];
      const lines = repositories.map((repository) => {
        const tags = named.slice(0, FEW).filter((one) => one.repository === repository);
        return `    ${repository}: [${tags.map(({ tag }) => tag).join(', ')}]\n`;
      });
      writeFileSync(source, `${from.host}:\n  tls-verify: false\n  images:\n${lines.join('')}`);
      return [
        'skopeo',
        ['sync', '--src', 'yaml', '--dest', 'docker', '--dest-tls-verify=false', source, `${to.host}/m`],
      ];
    },
  },
  {
    name: 'oc image mirror -f',
    program: 'oc',
    images: Math.min(FEW, images),
    run: (from, to, folder) => {
      const mapping = join(folder, 'mapping.txt');
      const lines = named
        .slice(0, FEW)
        .map(({ repository, tag }) => `${from.host}/${repository}:${tag}=${to.host}/${repository}:${tag}\n`);
      writeFileSync(mapping, lines.join(''));
      return ['oc', ['image', 'mirror', '-f', mapping, '--insecure', '--keep-manifest-list']];
    },
  },
  {
    name: 'oc-mirror, 10 images at a time',
    program: 'oc-mirror',
    images: roundTrip > 0 ? Math.min(FEW, images) : images,
    run: (from, to, folder) => {
      const config = join(folder, 'image-set.yaml');
      const additionalImages = named
        .slice(0, roundTrip > 0 ? FEW : images)
        .map(({ repository, tag }) => ({ name: `${from.host}/${repository}:${tag}` }));
      const [apiVersion, kind] = ['mirror.openshift.io/v2alpha1', 'ImageSetConfiguration'];
      writeFileSync(config, JSON.stringify({ apiVersion, kind, mirror: { additionalImages } }));
      const places = [
        '--workspace',
        `file://${folder}`,
        `docker://${to.host}`,
        '--v2',
        '--remove-signatures',
      ];
      const manner = ['--parallel-images', '10', '--src-tls-verify=false', '--dest-tls-verify=false'];
      return ['oc-mirror', ['-c', config, ...places, ...manner]];
    },
  },
];

async function measure(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  process.on('exit', () => rmSync(root, { recursive: true, force: true }));
  const from = await startRegistry(join(root, 'from'));
  await fill(from);
  const figures = new Map<string, Figures[]>();
  const tools = TOOLS.filter(({ program }) => program === 'node' || isOnPath(program));
  for (let run = 0; run < runs; run++) {
    for (const tool of tools) {
      const to = await startRegistry(join(root, `to-${run}`));
      const folder = mkdtempSync(join(root, 'work-'));
      const [program, parameters, input] = tool.run(from, to, folder);
      const scale = images / tool.images;
      const usage = join(folder, 'usage');
      const before = from.requests();
      const began = performance.now();
      const timed = ['-f', '%U %S %M', '-o', usage, program, ...parameters];
      const ended = spawnSync('/usr/bin/time', timed, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
      const seconds = ((performance.now() - began) / 1000) * scale;
      const [user = 0, system = 0, kilobytes = 0] = readFileSync(usage, 'utf8')
        .trim()
        .split(/[ \n]/)
        .slice(-3)
        .map(Number);
      const one: Figures = {
        seconds,
        cpu: (user + system) * scale,
        memory: kilobytes / 1024,
        toSource: (from.requests() - before) * scale,
        toDestination: to.requests() * scale,
      };
      to.stop();
      if (ended.status !== 0)
        console.log(
          `${tool.name}: exit ${ended.status}: ${ended.stderr
            .split('\n')
            .filter((line) => /error|fatal/i.test(line))
            .slice(0, 3)
            .join('\n')}`,
        );
      else figures.set(tool.name, [...(figures.get(tool.name) ?? []), one]);
      console.log(
        `${tool.name}: ${textOf(one)}${tool.images < images ? ` (scaled from ${tool.images})` : ''}`,
      );
    }
  }
  from.stop();
  const medians = [...figures].map(([name, all]) => [name, medianOf(all)] as const);
  const own = medians[0]?.[1].seconds ?? 0;
  console.log(`\n${images} images, ${roundTrip} ms, median of ${runs}:`);
  for (const [name, one] of medians)
    console.log(`${name}: ${textOf(one)}, ${(one.seconds / own).toFixed(2)}x`);
}

/** Of one run; scaled where a tool got fewer images, but for the memory. */
interface Figures {
  readonly seconds: number;
  readonly cpu: number;
  /** MiB. */
  readonly memory: number;
  readonly toSource: number;
  readonly toDestination: number;
}

function textOf({ seconds, cpu, memory, toSource, toDestination }: Figures): string {
  const requests = `${Math.round(toSource)} + ${Math.round(toDestination)} requests`;
  return `${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s CPU, ${memory.toFixed(0)} MiB, ${requests}`;
}

function medianOf(all: readonly Figures[]): Figures {
  const of = (key: keyof Figures): number => median(all.map((one) => one[key]));
  return {
    seconds: of('seconds'),
    cpu: of('cpu'),
    memory: of('memory'),
    toSource: of('toSource'),
    toDestination: of('toDestination'),
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

if (process.send === undefined) await measure();
else
  process.once('message', (line: { from: number; to: number }) =>
    distance({ ...line, roundTrip }).then(() => process.send?.('ready')),
  );
