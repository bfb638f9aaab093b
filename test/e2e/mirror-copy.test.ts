/** Copies by the built program between registries that others wrote: killed, and run again. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { digestOf } from '../../pipeline/oci/digest.ts';
import { pushImage, readImage } from '../../pipeline/oci/registry/push.ts';
import { type CountedLine, countedLine, killedAt } from '../fakes/counted-line.ts';
import { folder } from '../fakes/folder.ts';
import { bytesOf, noise, sampleImage } from '../fakes/image.ts';
import { buildProgram } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { isOnPath } from '../fakes/tools.ts';

const IMAGES = 100;
const KILLS = 20;

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
    ): Promise<{ line: CountedLine; parameters: string[] }> => {
      const line = await countedLine(target);
      onTestFinished(line.stop);
      const lines = images.map((_, i) => `${from.host}/${name(i)}=${line.host}/${name(i)}\n`);
      writeFileSync(join(directory, file), lines.join(''));
      const hosts = [from.host, line.host].flatMap((host) => ['--insecure', host]);
      return {
        line,
        parameters: [resolve('dist/portolan.mjs'), 'mirror', 'copy', join(directory, file), ...hosts],
      };
    };
    const whole = await prepare(clean.host, 'clean.txt');
    expect(await killedAt(whole.parameters, whole.line, Infinity)).toBe(0);
    const total = whole.line.bytes();

    const killed = await prepare(to.host, 'killed.txt');
    const points = Array.from({ length: KILLS }, () => Math.random() * total).sort((a, b) => a - b);
    let kills = 0;
    for (const point of points) {
      if ((await killedAt(killed.parameters, killed.line, Math.max(point, killed.line.bytes() + 1))) === null)
        kills++;
    }
    expect(await killedAt(killed.parameters, killed.line, Infinity)).toBe(0);
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
    // More than half of the rest are requests that delete the uploads which a kill left open: some hundred bytes for each of small blobs.
    expect(ratio).toBeLessThan(1.2);
  },
  600_000,
);
