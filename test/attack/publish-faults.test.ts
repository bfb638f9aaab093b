/** A whole publish, on a base, to several places, over a line that breaks: no tag ever names less than a whole image. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parseReference, type Reference } from '../../catalog/reference.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { openRepository } from '../../pipeline/git/repository.ts';
import { pushImage, readImage } from '../../pipeline/oci/registry/push.ts';
import type { Registry } from '../../pipeline/ports.ts';
import type { Published } from '../../pipeline/publish/plan.ts';
import { publishCatalog } from '../../pipeline/publish/publish.ts';
import { type Fault, faultProxy, type Passing } from '../fakes/fault-proxy.ts';
import { folder } from '../fakes/folder.ts';
import { testClient } from '../fakes/host.ts';
import { bytesOf, sampleImage } from '../fakes/image.ts';
import { registry } from '../fakes/registry.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';

const PASS: Fault = { kind: 'pass' };
const PLACES = ['sea/catalog:v4.20', 'sea/catalog:latest', 'far/catalog:v4.20', 'sea/slim:v4.20'] as const;

let sample: SampleRepository;
beforeAll(() => {
  sample = sampleRepository();
  return sample.remove;
});

/** A registry with a base image, behind a proxy with faults. */
async function setUp(choose: (request: Passing) => Fault) {
  const real = await registry();
  const direct = testClient([real.host]);
  const base = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['opm', 'probe'] });
  await pushImage(direct, parseReference(`${real.host}/base/opm:v1`), { image: base });
  const proxy = await faultProxy(real.host, choose);
  const client = testClient([proxy.host], { chunk: 20_000, retry: { budget: 3000, attempts: 4 } });
  const publishing = async (commit: string, by: Registry = client, host = proxy.host): Promise<Published> => {
    const repository = await openRepository(sample.directory, { searchPath: process.env['PATH'] ?? '' });
    const [to = '', tag = '', far = '', slim = ''] = PLACES.map((place) => `${host}/${place}`);
    const places = { to, also: [tag, far], slim, base: `${host}/base/opm:v1` };
    const request = { commit, catalog: 'v4.20', out: join(folder(), 'out'), today: '2026-01-01', ...places };
    const attest = { sbom: true, provenance: true, builder: 'urn:test' };
    try {
      return await publishCatalog(
        { repository, registry: by, progress: () => undefined },
        { ...request, attest },
      );
    } finally {
      await repository.close();
    }
  };
  const tags = PLACES.map((place) => parseReference(`${real.host}/${place}`));
  return { real, direct, client, publishing, tags };
}

/** Every byte of an image, when there is one. */
async function digestOfWhole(client: Registry, tag: Reference): Promise<string | undefined> {
  if ((await client.resolve(tag)) === undefined) return undefined;
  const { root, blobs } = await readImage(client, tag);
  for (const blob of blobs) expect(await bytesOf(blob.open(0))).toHaveLength(blob.size);
  return root.digest;
}

test.each(Array.from({ length: 10 }, (_, seed) => seed))(
  'whatever breaks (%i), every tag names a whole image',
  async (seed) => {
    let broken = false;
    const next = random(seed);
    const at = await setUp(({ url }) => {
      if (!broken || url === '/v2/' || next() > 0.1) return PASS;
      const faults: readonly Fault[] = [
        { kind: 'cut' },
        { kind: 'cut-answer' },
        { kind: 'cut-request', after: Math.floor(next() * 20_000) },
        { kind: 'truncate', after: Math.floor(next() * 500) },
        { kind: 'answer', status: 429 },
        { kind: 'answer', status: 500 },
        { kind: 'answer', status: 404 },
        { kind: 'lie', status: 502 },
      ];
      return faults[Math.floor(next() * faults.length)] ?? PASS;
    });
    await at.publishing('main');
    const before = await Promise.all(at.tags.map((tag) => digestOfWhole(at.direct, tag)));
    broken = true;
    const outcome = await at.publishing('addition').catch((error: unknown) => error);
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(PipelineError);
    const between = await Promise.all(at.tags.map((tag) => digestOfWhole(at.direct, tag)));
    broken = false;
    const after = await at.publishing('addition');
    expect(after.kind).toBe('published');
    const now = await Promise.all(at.tags.map((tag) => digestOfWhole(at.direct, tag)));
    for (const [i, digest] of between.entries()) expect([before[i], now[i]]).toContain(digest);
    expect(now).not.toEqual(before);
  },
);

test('a place that refuses everything keeps the tags of all other places where they were', async () => {
  let refuses = false;
  const at = await setUp(({ method, url }) =>
    refuses && url.includes('/far/') && method !== 'GET' && method !== 'HEAD'
      ? { kind: 'answer', status: 403 }
      : PASS,
  );
  await at.publishing('main');
  const before = await Promise.all(at.tags.map((tag) => digestOfWhole(at.direct, tag)));
  refuses = true;
  await expect(at.publishing('addition')).rejects.toMatchObject({ code: 'denied' });
  expect(await Promise.all(at.tags.map((tag) => digestOfWhole(at.direct, tag)))).toEqual(before);
});

describe('no space for layers', () => {
  const { writeSync } = fs;
  afterEach(() => {
    fs.writeSync = writeSync;
    syncBuiltinESMExports();
  });

  test('is said, and nothing was published', async () => {
    const at = await setUp(() => PASS);
    let left = 2000;
    fs.writeSync = ((...all: Parameters<typeof writeSync>) => {
      left -= 1000;
      if (left >= 0) return writeSync(...all);
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
    }) as typeof writeSync;
    syncBuiltinESMExports();
    await expect(at.publishing('main')).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('no space left'),
    });
    expect(await at.direct.resolve(at.tags[0] as Reference)).toBeUndefined();
  });
});

/** Numbers from 0 to 1 that are the same for the same seed. */
function random(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}
