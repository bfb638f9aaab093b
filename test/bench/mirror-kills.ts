/**
 * What kills cost a copy of large blobs: the program copies from one docker-registry to another
 * and is killed with SIGKILL at twenty random points, by seed. Prints bytes sent, as a part of
 * those of a copy that nobody kills. REGISTRY is the program that the copy goes to: distribution's, of another version.
 *
 *     node scripts/build.mjs && node scripts/run.mjs test/bench/mirror-kills.ts [MB A BLOB] [MB IN ALL] [SEEDS] [MB/S] [REGISTRY]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseReference } from '../../catalog/reference.ts';
import { digestOf } from '../../pipeline/oci/digest.ts';
import { createRegistryClient } from '../../pipeline/oci/registry/client.ts';
import { pushImage, readImage } from '../../pipeline/oci/registry/push.ts';
import { countedLine, killedAt } from '../fakes/counted-line.ts';
import { bytesOf, sampleImage } from '../fakes/image.ts';
import { freePort } from '../fakes/tools.ts';

const [size = 4, total = 400, seeds = 3, speed = 0] = process.argv.slice(2, 6).map(Number);
const [program = 'docker-registry'] = process.argv.slice(6);
const KILLS = 20;
const MB = 1e6;
const images = Math.round(total / size);
const root = mkdtempSync(join(tmpdir(), 'portolan-kills-'));
const children: ChildProcess[] = [];
process.on('exit', () => {
  for (const child of children) child.kill();
  rmSync(root, { recursive: true, force: true });
});

async function startRegistry(name: string, server: string): Promise<{ host: string; stop: () => void }> {
  const folder = join(root, name);
  mkdirSync(folder);
  const host = `127.0.0.1:${await freePort()}`;
  const config = join(folder, 'config.yml');
  writeFileSync(
    config,
    `version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: ${folder}}}\nhttp: {addr: "${host}"}\n`,
  );
  const child = spawn(server, ['serve', config], { stdio: 'ignore' });
  children.push(child);
  while (!(await fetch(`http://${host}/v2/`).catch(() => undefined)))
    await new Promise((done) => setTimeout(done, 50));
  return {
    host,
    stop: () => {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const name = (i: number): string => `org/app-${i % 12}:v${i}`;
const from = await startRegistry('from', 'docker-registry');
const client = createRegistryClient({ plainHttp: [from.host], internal: [from.host] });
const digests: string[] = [];
for (let i = 0; i < images; i++) {
  const image = sampleImage({ layers: ['base', randomBytes(size * MB)] });
  await pushImage(client, parseReference(`${from.host}/${name(i)}`), { image });
  digests.push(image.root.digest);
}

async function copy(
  label: string,
  pointsOf: (sent: number) => readonly number[],
  all: number,
): Promise<number> {
  const to = await startRegistry(label, program);
  const line = await countedLine(to.host, speed * MB);
  const mapping = join(root, `${label}.txt`);
  writeFileSync(mapping, digests.map((_, i) => `${from.host}/${name(i)}=${line.host}/${name(i)}\n`).join(''));
  const hosts = [from.host, line.host].flatMap((host) => ['--insecure', host]);
  const command = [resolve('dist/portolan.mjs'), 'mirror', 'copy', mapping, ...hosts];
  let kills = 0;
  for (const point of pointsOf(all))
    if ((await killedAt(command, line, Math.max(point, line.bytes() + 1))) === null) kills++;
  const code = await killedAt(command, line, Infinity);
  const near = createRegistryClient({ plainHttp: [to.host], internal: [to.host] });
  for (const [i, digest] of digests.entries()) {
    const read = await readImage(near, parseReference(`${to.host}/${name(i)}`));
    for (const blob of read.blobs)
      if (digestOf(await bytesOf(blob.open(0))) !== blob.digest) throw new Error(`${blob.digest} differs`);
    if (read.root.digest !== digest) throw new Error(`${name(i)} differs`);
  }
  near.close();
  line.stop();
  to.stop();
  if (code !== 0) throw new Error(`exit ${code}`);
  if (all > 0)
    console.log(
      `${label}: ${kills} kills, ${(line.bytes() / all).toFixed(3)} of ${(all / MB).toFixed(1)} MB`,
    );
  return line.bytes();
}

console.error('filled');
const clean = await copy('clean', () => [], 0);
for (let seed = 1; seed <= seeds; seed++) {
  const random = numbers(seed);
  await copy(
    `seed-${seed}`,
    (all) => Array.from({ length: KILLS }, () => random() * all).sort((a, b) => a - b),
    clean,
  );
}
client.close();
process.exit(0);
