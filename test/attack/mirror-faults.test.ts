/** Copies from registries that fail: nothing is lost, and nobody has to run the command again. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { type Fault, faultProxy, type Passing } from '../fakes/fault-proxy.ts';
import { folder } from '../fakes/folder.ts';
import { testClient } from '../fakes/host.ts';
import { sampleImage } from '../fakes/image.ts';
import { registry } from '../fakes/registry.ts';
import { portolan } from '../fakes/terminal.ts';

const PASS: Fault = { kind: 'pass' };
const DOWN: Fault = { kind: 'answer', status: 503 };

/** 3 s of every 8 s. */
function outages(): (request: Passing) => Fault {
  const began = performance.now();
  return () => ((performance.now() - began) % 8000 < 3000 ? DOWN : PASS);
}

function oneOutage(): (request: Passing) => Fault {
  const began = performance.now();
  return () => (performance.now() - began < 20_000 ? DOWN : PASS);
}

function busyTwice(): (request: Passing) => Fault {
  const asked = new Map<string, number>();
  return ({ method, url }) => {
    const name = `${method} ${url}`;
    const before = asked.get(name) ?? 0;
    asked.set(name, before + 1);
    return before < 2 ? { kind: 'answer', status: 429, headers: { 'retry-after': '1' } } : PASS;
  };
}

/** Every fifth body is another one, or ends early. */
function spoiled(): (request: Passing) => Fault {
  return ({ method, url, number }) => {
    if (method !== 'GET' || !url.includes('sha256:') || number % 5 > 0) return PASS;
    return number % 2 ? { kind: 'answer', status: 200, body: 'x' } : { kind: 'truncate', after: 10 };
  };
}

test.each([
  ['outages of 3 s in every 8 s', outages, 60],
  ['one outage of 20 s', oneOutage, 10],
  ['429 to the first and second request of each URL', busyTwice, 8],
  ['a fifth of the bodies spoiled', spoiled, 60],
] as const)('%s', async (_, choose, images) => {
  const [source, target] = [await registry(), await registry()];
  const client = testClient([source.host, target.host]);
  const names = Array.from({ length: images }, (_, i) => `image-${i}`);
  for (const name of names) {
    const image = sampleImage({ layers: ['base', name] });
    await pushImage(client, parseReference(`${source.host}/org/${name}:v1`), { image });
  }
  const { host } = await faultProxy(source.host, choose());
  const directory = folder();
  const lines = names.map((name) => `${host}/org/${name}:v1=${target.host}/m/${name}:v1\n`);
  writeFileSync(join(directory, 'mapping.txt'), lines.join(''));
  const insecure = [host, target.host].flatMap((one) => ['--insecure', one]);
  const ran = await portolan(directory, 'mirror', 'copy', 'mapping.txt', ...insecure);
  expect(ran, ran.err).toMatchObject({ exit: 0 });
  for (const name of names)
    expect(await client.resolve(parseReference(`${target.host}/m/${name}:v1`))).toBeDefined();
});

test('a fifth of the requests for signed images get 503: all arrive, with their signatures', async () => {
  const [source, target] = [await registry(), await registry()];
  const client = testClient([source.host, target.host]);
  const names = Array.from({ length: 40 }, (_, i) => `image-${i}`);
  const signatures = new Map<string, string>();
  for (const name of names) {
    const image = sampleImage({ layers: ['base', name] });
    const tag = `${image.root.digest.replace(':', '-')}.sig`;
    signatures.set(name, tag);
    await pushImage(client, parseReference(`${source.host}/org/${name}:v1`), { image });
    const signature = sampleImage({ layers: [`signature of ${name}`] });
    await pushImage(client, parseReference(`${source.host}/org/${name}:${tag}`), { image: signature });
  }
  let seen = 0;
  const tries = new Map<string, number>();
  // A fifth of all requests; of every fifth signature so many in a row that all tries of one call fail.
  const late = new Set([...signatures.values()].filter((_tag, i) => i % 5 === 0));
  const isBad = (url: string): boolean => {
    const count = (tries.get(url) ?? 0) + 1;
    tries.set(url, count);
    const isLate = count <= 5 && late.has(url.slice(url.lastIndexOf('/') + 1));
    return isLate || (Math.imul(++seen, 2_654_435_761) >>> 0) % 5 === 0;
  };
  const { host } = await faultProxy(source.host, ({ url }) => (isBad(url) ? DOWN : PASS));
  const directory = folder();
  const lines = names.map((name) => `${host}/org/${name}:v1=${target.host}/m/${name}:v1\n`);
  writeFileSync(join(directory, 'mapping.txt'), lines.join(''));
  const insecure = [host, target.host].flatMap((one) => ['--insecure', one]);
  const ran = await portolan(directory, 'mirror', 'copy', 'mapping.txt', ...insecure);
  expect(ran, ran.err).toMatchObject({ exit: 0, out: expect.stringContaining('40 copied') });
  for (const [name, tag] of signatures)
    expect(await client.resolve(parseReference(`${target.host}/m/${name}:${tag}`))).toBeDefined();
});
