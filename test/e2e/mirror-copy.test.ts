/** Copies by the built program between registries that others wrote: killed, and run again. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { digestOf } from '../../pipeline/registry/digest.ts';
import { pushImage, readImage } from '../../pipeline/registry/push.ts';
import { folder } from '../fakes/folder.ts';
import { bytesOf, noise, sampleImage } from '../fakes/image.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { freePort, isOnPath } from '../fakes/tools.ts';

const IMAGES = 100;
const KILLS = 20;

interface Counted {
  readonly host: string;
  /** Bytes that went to the registry. */
  readonly bytes: () => number;
  readonly onBytes: (listener: (bytes: number) => void) => void;
}

/** A line to a host that counts what goes there. */
async function counted(target: string): Promise<Counted> {
  let bytes = 0;
  let listener: (bytes: number) => void = () => undefined;
  const port = await freePort();
  const server = createServer((socket) => {
    const onward = connect(Number(target.split(':')[1]), '127.0.0.1');
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      listener(bytes);
    });
    for (const one of [socket, onward]) one.on('error', () => [socket, onward].map((each) => each.destroy()));
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return {
    host: `127.0.0.1:${port}`,
    bytes: () => bytes,
    onBytes: (tell) => {
      listener = tell;
    },
  };
}

/** Runs the program; kills it once so many bytes have gone in all. */
function copyUntil(parameters: readonly string[], line: Counted, limit: number): Promise<number | null> {
  return new Promise((done) => {
    const command = [resolve('dist/portolan.mjs'), ...parameters];
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] });
    const said: Buffer[] = [];
    child.stderr.on('data', (chunk) => said.push(chunk));
    line.onBytes((bytes) => bytes >= limit && child.kill('SIGKILL'));
    child.on('close', (code) => {
      if (code) console.error(Buffer.concat(said).toString());
      done(code);
    });
  });
}

beforeAll(buildProgram);

test.skipIf(!isOnPath('docker-registry'))(
  'killed twenty times at random: complete in the end, hardly a byte twice',
  async () => {
    const [from, clean, to] = [await dockerRegistry(), await dockerRegistry(), await dockerRegistry()];
    const images = Array.from({ length: IMAGES }, (_, i) =>
      sampleImage({
        architectures: i % 3 === 0 ? ['amd64', 'arm64'] : ['amd64'],
        layers: ['base', Buffer.concat([Buffer.from(`${i}`), noise(i % 10 === 0 ? 500_000 : 150_000)])],
      }),
    );
    const name = (i: number): string => `org/app-${i % 12}:v${i}`;
    for (const [i, image] of images.entries())
      await pushImage(from.client, parseReference(`${from.host}/${name(i)}`), { image });
    const directory = folder();
    const prepare = async (
      target: string,
      file: string,
    ): Promise<{ line: Counted; parameters: string[] }> => {
      const line = await counted(target);
      const lines = images.map((_, i) => `${from.host}/${name(i)}=${line.host}/${name(i)}\n`);
      writeFileSync(join(directory, file), lines.join(''));
      const hosts = [from.host, line.host].flatMap((host) => ['--insecure', host]);
      return { line, parameters: ['mirror', 'copy', join(directory, file), ...hosts] };
    };
    const whole = await prepare(clean.host, 'clean.txt');
    expect(await copyUntil(whole.parameters, whole.line, Infinity)).toBe(0);
    const total = whole.line.bytes();

    const killed = await prepare(to.host, 'killed.txt');
    const points = Array.from({ length: KILLS }, () => Math.random() * total).sort((a, b) => a - b);
    let kills = 0;
    for (const point of points) {
      if (
        (await copyUntil(killed.parameters, killed.line, Math.max(point, killed.line.bytes() + 1))) === null
      )
        kills++;
    }
    expect(await copyUntil(killed.parameters, killed.line, Infinity)).toBe(0);
    const ratio = killed.line.bytes() / total;
    console.log(
      `${kills} kills: ${killed.line.bytes()} bytes, ${ratio.toFixed(3)} of the ${total} of a clean run`,
    );
    expect(kills).toBe(KILLS);
    for (const [i, image] of images.entries()) {
      const read = await readImage(to.client, parseReference(`${to.host}/${name(i)}`));
      expect(read.root.digest).toBe(image.root.digest);
      for (const blob of read.blobs) expect(digestOf(await bytesOf(blob.open(0)))).toBe(blob.digest);
    }
    expect(ratio).toBeLessThan(1.1);
  },
  600_000,
);
