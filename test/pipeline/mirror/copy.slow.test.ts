import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readMapping } from '../../../catalog/mirror/mapping.ts';
import { parseReference, withDigest } from '../../../catalog/reference.ts';
import { elsewhereLine, failureLines } from '../../../pipeline/cli/mirror/copy-output.ts';
import { openArchives, receiptAt } from '../../../pipeline/mirror/archive/reader.ts';
import { openArchiveWriter } from '../../../pipeline/mirror/archive/writer.ts';
import { type CopyReport, copyImages } from '../../../pipeline/mirror/copy.ts';
import { copyJobs } from '../../../pipeline/mirror/copy-jobs.ts';
import { NO_MEMORY, openMemory } from '../../../pipeline/mirror/copy-memory.ts';
import type { CopyPorts } from '../../../pipeline/mirror/copy-run.ts';
import { digestOf } from '../../../pipeline/oci/digest.ts';
import type { RegistryClient } from '../../../pipeline/oci/registry/client.ts';
import { type ImageContent, pushImage, readImage } from '../../../pipeline/oci/registry/push.ts';
import { testClock } from '../../fakes/clock.ts';
import { type Fault, faultProxy, type Passing } from '../../fakes/fault-proxy.ts';
import { folder } from '../../fakes/folder.ts';
import { reply, startHost, testClient } from '../../fakes/host.ts';
import { bytesOf, noise, sampleImage, sampleReferrer } from '../../fakes/image.ts';
import { registry, tokensEndAfter } from '../../fakes/registry.ts';

// Registries that keep what they get on the disk: slow where many tests share one.
const list = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['base', 'list'] });
const single = sampleImage({ layers: ['base', 'single'], format: 'docker' });

interface Scene {
  /** The first registry, with nothing in front of it. */
  readonly source: string;
  readonly from: string;
  readonly to: string;
  readonly client: RegistryClient;
  readonly ports: Omit<CopyPorts, 'progress' | 'clock'>;
}

/** Two registries; the images are in the first, under `org/a:list` and `org/b:single`. */
async function scene(choose?: (request: Passing) => Fault): Promise<Scene> {
  const [source, target] = [await registry(), await registry()];
  const from = choose ? (await faultProxy(source.host, choose)).host : source.host;
  const filler = testClient([source.host]);
  await pushImage(filler, parseReference(`${source.host}/org/a:list`), { image: list });
  await pushImage(filler, parseReference(`${source.host}/org/b:single`), { image: single });
  const client = testClient([from, target.host, source.host]);
  const { keepsReferrers } = client;
  return {
    source: source.host,
    from,
    to: target.host,
    client,
    ports: { from: client, to: client, keepsReferrers, memory: NO_MEMORY },
  };
}

async function copy(
  text: string,
  ports: Omit<CopyPorts, 'progress' | 'clock'> & Partial<Pick<CopyPorts, 'clock'>>,
  loads = false,
  mostCompanions?: number,
): Promise<CopyReport> {
  const read = readMapping(text, 'mapping.txt');
  expect(read.findings).toEqual([]);
  const { jobs, findings } = await copyJobs(read.mappings, ports.from, undefined);
  expect(findings).toEqual([]);
  const all = loads ? jobs.map((job) => ({ ...job, from: job.to })) : jobs;
  return copyImages(
    { clock: testClock(), progress: () => undefined, ...ports },
    {
      jobs: all,
      parallel: 8,
      companions: true,
      ...(mostCompanions === undefined ? {} : { mostCompanions }),
    },
  );
}

function mappingOf({ from, to }: Pick<Scene, 'from' | 'to'>): string {
  return `${from}/org/a@${list.root.digest}=${to}/m/a:list\n${from}/org/b:single=${to}/m/b:single\n`;
}

async function expectWhole(client: RegistryClient, name: string, image: ImageContent): Promise<void> {
  const read = await readImage(client, parseReference(name));
  expect([read.root, ...read.manifests]).toEqual([image.root, ...image.manifests]);
  for (const blob of read.blobs) await bytesOf(blob.open(0));
}

test('lists stay whole, digests as they are, blobs go once, and a second run sends nothing', async () => {
  const { client, ports, ...hosts } = await scene();
  const first = await copy(mappingOf(hosts), ports);
  expect(first).toMatchObject({ images: 2, copied: 2, unchanged: 0, failed: [] });
  await expectWhole(client, `${hosts.to}/m/a:list`, list);
  await expectWhole(client, `${hosts.to}/m/b:single`, single);
  const shared = list.blobs.filter(({ digest }) => single.blobs.some((blob) => blob.digest === digest));
  expect(first.blobs.uploaded).toBe(list.blobs.length + single.blobs.length - shared.length);
  const before = client.traffic().get(hosts.to)?.sent;
  expect(await copy(mappingOf(hosts), ports)).toMatchObject({ copied: 0, unchanged: 2, bytes: 0 });
  expect(client.traffic().get(hosts.to)?.sent).toBe(before);
});

test('a registry without lists of referrers is asked for one only', async () => {
  const asked: string[] = [];
  const { ports, ...hosts } = await scene(({ url }) => {
    if (!url.includes('/referrers/')) return { kind: 'pass' };
    asked.push(url);
    return { kind: 'answer', status: 404, body: 'no page here' };
  });
  expect(await copy(mappingOf(hosts), ports)).toMatchObject({ copied: 2, failed: [] });
  expect(asked).toHaveLength(1);
});

test('signatures and referrers come along, those of platforms and of signatures too', async () => {
  const { client, ports, ...hosts } = await scene();
  const [child] = list.manifests;
  const repository = `${hosts.from}/org/a`;
  const sbom = sampleReferrer(list.root, 'test/sbom');
  const aboutSbom = sampleReferrer(sbom.root, 'test/signature');
  const aboutChild = sampleReferrer(child ?? list.root, 'test/signature', 'child');
  for (const one of [sbom, aboutSbom, aboutChild]) {
    await pushImage(client, withDigest(parseReference(`${repository}:list`), one.root.digest), {
      image: one,
    });
  }
  const tags = [`${list.root.digest.replace(':', '-')}.sig`, `${child?.digest.replace(':', '-')}.att`];
  for (const tag of tags) await pushImage(client, parseReference(`${repository}:${tag}`), { image: single });
  expect(await copy(mappingOf(hosts), ports)).toMatchObject({ failed: [], companions: 5 });
  for (const tag of tags) await expectWhole(client, `${hosts.to}/m/a:${tag}`, single);
  const about = async (digest: string): Promise<string[]> =>
    (await client.listReferrers(parseReference(`${hosts.to}/m/a:list`), digest)).map((one) => one.digest);
  expect(await about(list.root.digest)).toEqual([sbom.root.digest]);
  expect(await about(sbom.root.digest)).toEqual([aboutSbom.root.digest]);
  expect(await about(child?.digest ?? '')).toEqual([aboutChild.root.digest]);
});

test('a second run brings the signature of a platform that the first could not bring', async () => {
  const tag = `${list.manifests[0]?.digest.replace(':', '-')}.sig`;
  let isDown = true;
  const { client, ports, ...hosts } = await scene(({ url }) =>
    isDown && url.endsWith(tag) ? { kind: 'answer', status: 403 } : { kind: 'pass' },
  );
  await pushImage(client, parseReference(`${hosts.source}/org/a:${tag}`), { image: single });
  expect((await copy(mappingOf(hosts), ports)).failed).toHaveLength(1);
  await expectWhole(client, `${hosts.to}/m/a:list`, list);
  isDown = false;
  expect(await copy(mappingOf(hosts), ports)).toMatchObject({ failed: [], unchanged: 2, companions: 1 });
  await expectWhole(client, `${hosts.to}/m/a:${tag}`, single);
});

test('an image with more artifacts than anybody attaches is refused', async () => {
  const { client, ports, ...hosts } = await scene();
  const repository = `${hosts.from}/org/a`;
  for (const name of ['one', 'two', 'three']) {
    const image = sampleReferrer(list.root, 'test/sbom', name);
    await pushImage(client, withDigest(parseReference(`${repository}:list`), image.root.digest), { image });
  }
  const report = await copy(mappingOf(hosts), ports, false, 2);
  expect(report.failed).toMatchObject([{ why: expect.stringContaining('more than 2 signatures') }]);
  expect(await copy(mappingOf(hosts), ports, false, 3)).toMatchObject({ failed: [] });
});

test('what fails is named and spoils nothing else', async () => {
  const { client, ports, ...hosts } = await scene();
  const gone = `${hosts.from}/org/gone:v1=${hosts.to}/m/gone:v1\n`;
  const report = await copy(gone + mappingOf(hosts), ports);
  expect(report).toMatchObject({ images: 3, copied: 2 });
  expect(report.failed).toEqual([
    {
      source: `${hosts.from}/org/gone:v1`,
      destination: `${hosts.to}/m/gone:v1`,
      why: expect.stringContaining('org/gone'),
    },
  ]);
  await expectWhole(client, `${hosts.to}/m/b:single`, single);
});

const layer = list.blobs[0]?.digest ?? '';
/** Other bytes than asked for, so many times for each URL that is not a tag's. */
const spoiled = (times: number) => {
  const asked = new Map<string, number>();
  return ({ url, method }: Passing): Fault => {
    if (method !== 'GET' || !url.includes('sha256:')) return { kind: 'pass' };
    const before = asked.get(url) ?? 0;
    asked.set(url, before + 1);
    return before < times ? { kind: 'answer', status: 200, body: 'x' } : { kind: 'pass' };
  };
};
/** Answers that fail for good in the eyes of one call, for a while. */
const outage = (length: number) => {
  let left = length;
  return ({ method }: Passing): Fault =>
    method === 'GET' && left-- > 0 ? { kind: 'answer', status: 503 } : { kind: 'pass' };
};
const faults: Record<string, (request: Passing) => Fault> = {
  'once 503, then 429': ({ number }) =>
    number % 3 === 0
      ? { kind: 'answer', status: number % 2 ? 503 : 429, headers: { 'retry-after': '0' } }
      : { kind: 'pass' },
  'blobs cut off': ({ url, headers }) =>
    url.includes(layer) && headers.range === undefined ? { kind: 'truncate', after: 20 } : { kind: 'pass' },
  'each body spoiled once': spoiled(1),
  'each body spoiled twice': spoiled(2),
  'an outage that outlasts the tries of a call': outage(12),
};

test.each(Object.entries(faults))('%s: the right result', async (_, choose) => {
  const { client, ports, ...hosts } = await scene(choose);
  expect((await copy(mappingOf(hosts), ports)).failed).toEqual([]);
  await expectWhole(client, `${hosts.to}/m/a:list`, list);
});

test('signatures of which some requests get 503: all arrive in the end', async () => {
  // Each request for what belongs to an image fails five times, which is more than one call tries.
  const tries = new Map<string, number>();
  const { client, ports, ...hosts } = await scene(({ method, url }) => {
    const count = (tries.get(`${method} ${url}`) ?? 0) + 1;
    tries.set(`${method} ${url}`, count);
    return /\.sig$/.test(url) && count <= 5 ? { kind: 'answer', status: 503 } : { kind: 'pass' };
  });
  const tag = `${list.root.digest.replace(':', '-')}.sig`;
  await pushImage(client, parseReference(`${hosts.source}/org/a:${tag}`), { image: single });
  await pushImage(client, parseReference(`${hosts.to}/m/a:list`), { image: single });
  // The image took the place of another one before its signature could be read.
  expect(await copy(mappingOf(hosts), ports)).toMatchObject({
    failed: [],
    copied: 2,
    unchanged: 0,
    companions: 1,
  });
  await expectWhole(client, `${hosts.to}/m/a:${tag}`, single);
});

test.each([
  ['for ever', Infinity, 8],
  ['for a while', 5, 6],
])(
  'a registry that answers 500 to one manifest %s is asked a limited number of times',
  async (_, times, most) => {
    const { client, ports, ...hosts } = await scene();
    let puts = 0;
    const bad = await faultProxy(hosts.to, ({ method, url }) => {
      const isIt = method === 'PUT' && url.endsWith('/m/b/manifests/single');
      return isIt && ++puts <= times ? { kind: 'answer', status: 500 } : { kind: 'pass' };
    });
    const through = testClient([bad.host, hosts.from]);
    const report = await copy(mappingOf({ from: hosts.from, to: bad.host }), {
      ...ports,
      from: through,
      to: through,
    });
    expect(report.failed.map(({ destination }) => destination)).toEqual(
      times === Infinity ? [`${bad.host}/m/b:single`] : [],
    );
    expect(puts).toBe(most);
    await expectWhole(client, `${hosts.to}/m/a:list`, list);
  },
);

describe('a registry that refuses', () => {
  const TAGS = Array.from({ length: 60 }, (_, i) => `v${i}`);
  /** 60 images into a registry that answers some writes with a status. */
  const refused = async (status: number, isRefused: (request: Passing) => boolean) => {
    const { ports, ...hosts } = await scene();
    let writes = 0;
    const bad = await faultProxy(hosts.to, (request) => {
      if (!/^(?:POST|PUT|PATCH)$/.test(request.method) || !isRefused(request)) return { kind: 'pass' };
      writes++;
      return { kind: 'answer', status };
    });
    const through = testClient([bad.host, hosts.from]);
    const text = TAGS.map((tag) => `${hosts.from}/org/b:single=${bad.host}/m/${tag}:x\n`).join('');
    const report = await copy(text, { ...ports, from: through, to: through });
    return { report, writes, host: bad.host };
  };
  const isManifest = ({ url }: Passing): boolean => url.includes('/manifests/');

  test.each([
    ['every write', () => true],
    ['every manifest', isManifest],
  ])('%s with 500 is not asked for all images, and there is one cause', async (_, isRefused) => {
    const { report, writes, host } = await refused(500, isRefused);
    expect(report.failed).toHaveLength(60);
    expect(report.refused).toEqual([{ registry: host, why: expect.stringContaining('returned 500') }]);
    expect(failureLines(report)).toEqual([
      expect.stringContaining(`failed 60 images: no write to ${host} has succeeded.`),
    ]);
    // Four passes of 16 images. All 60, each with four tries in each pass, are 960.
    expect(writes).toBeLessThan(600);
  });

  test('every write with 403 is asked once for each image, and there is one cause', async () => {
    const { report, host } = await refused(403, () => true);
    expect(report.failed.map(({ why }) => why).filter((why) => why.startsWith('not tried'))).toEqual([]);
    expect(report.refused.map(({ registry: name }) => name)).toEqual([host]);
  });

  test.each([403, 500])('all but one image with %i takes that one', async (status) => {
    const { report } = await refused(status, (one) => isManifest(one) && !one.url.includes('/m/v40/'));
    expect([report.copied, report.failed.length, report.refused]).toEqual([1, 59, []]);
  });
});

test('images with foreign layers are named before anything is sent, and those layers are not copied', async () => {
  const { client, ports, ...hosts } = await scene();
  const manifest = JSON.parse(Buffer.from(single.root.bytes).toString('utf8'));
  const [first] = manifest.layers;
  first.mediaType = 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip';
  first.urls = ['https://layers.example.com/base'];
  const bytes = Buffer.from(JSON.stringify(manifest));
  const root = { ...single.root, bytes, digest: digestOf(bytes) };
  const blobs = single.blobs.filter(({ digest }) => digest !== first.digest);
  await pushImage(client, parseReference(`${hosts.source}/org/windows:v1`), {
    image: { root, manifests: [], blobs },
  });
  const said: { sources: readonly string[]; sent: number }[] = [];
  const sent = (): number => client.traffic().get(hosts.to)?.sent ?? 0;
  const text = `${mappingOf(hosts)}${hosts.from}/org/windows:v1=${hosts.to}/m/windows:v1\n`;
  const report = await copy(text, {
    ...ports,
    elsewhere: (sources) => void said.push({ sources, sent: sent() }),
  });
  expect(report).toMatchObject({ copied: 3, failed: [], refused: [] });
  expect(said).toEqual([{ sources: [`${hosts.from}/org/windows:v1`], sent: 0 }]);
  expect(elsewhereLine(said[0]?.sources ?? [])).toContain('1 image with layers that are not copied');
});

test('other bytes than the digest says: a named failure, and no tag', async () => {
  const other = 'x'.repeat(list.blobs[0]?.size ?? 1);
  const { client, ports, ...hosts } = await scene(({ url }) =>
    url.includes(layer) ? { kind: 'answer', status: 200, body: other } : { kind: 'pass' },
  );
  const { failed } = await copy(mappingOf(hosts), ports);
  expect(failed.map(({ destination }) => destination)).toContain(`${hosts.to}/m/a:list`);
  // The message names the image and the host that sent the bytes.
  expect(failed[0]?.why).toMatch(
    `digest mismatch of the blob ${layer} of ${hosts.from}/org/a: expected ${layer}`,
  );
  expect(await client.resolve(parseReference(`${hosts.to}/m/a:list`))).toBeUndefined();
});

test('tokens that expire on the way are fetched anew', async () => {
  const access = { kind: 'token', accounts: { me: 'secret' }, now: tokensEndAfter(40) } as const;
  const [source, target] = [await registry({ access }), await registry({ access })];
  const credentials = {
    credential: async () => ({ kind: 'basic', username: 'me', password: 'secret' }) as const,
  };
  const client = testClient([source.host, target.host], { credentials });
  const tags = Array.from({ length: 10 }, (_, i) => `v${i}`);
  const hosts = { from: source.host, to: target.host };
  for (const tag of tags)
    await pushImage(client, parseReference(`${hosts.from}/org/a:${tag}`), { image: list });
  const text = tags.map((tag) => `${hosts.from}/org/a:${tag}=${hosts.to}/m/${tag}:x\n`).join('');
  const ports = { from: client, to: client, keepsReferrers: client.keepsReferrers, memory: NO_MEMORY };
  expect((await copy(text, ports)).failed).toEqual([]);
  for (const tag of tags) await expectWhole(client, `${hosts.to}/m/${tag}:x`, list);
  expect(target.seen.filter(({ status }) => status === 401).length).toBeGreaterThan(0);
});

test('a pattern of tags, and a destination without a tag', async () => {
  const { client, ports, ...hosts } = await scene();
  const text = `${hosts.from}/org/a:li*=${hosts.to}/p\n${hosts.from}/org/a@${list.root.digest}=${hosts.to}/q\n`;
  expect(await copy(text, ports)).toMatchObject({ copied: 2, failed: [] });
  await expectWhole(client, `${hosts.to}/p:list`, list);
  await expectWhole(client, `${hosts.to}/q@${list.root.digest}`, list);
});

test('another tag of a repository sends no blob again', async () => {
  const { client, ports, ...hosts } = await scene();
  const report = await copy(`${hosts.from}/org/a:list=${hosts.from}/org/a:again\n`, ports);
  expect(report).toMatchObject({ copied: 1, failed: [], blobs: { uploaded: 0 } });
  await expectWhole(client, `${hosts.from}/org/a:again`, list);
});

async function archive(directory: string, from: Scene, text: string, since?: string): Promise<number> {
  const options = { directory, part: 4096, since: since === undefined ? undefined : receiptAt(since) };
  const writer = await openArchiveWriter(options);
  expect(await copy(text, { ...from.ports, to: writer.target })).toMatchObject({ failed: [] });
  return writer.finish();
}

test('into an archive in parts, and out of it; the next one holds only what is new', async () => {
  const from = await scene();
  const [one, two] = [folder(), folder()];
  const big = sampleImage({ layers: ['base', noise(20_000)] });
  await pushImage(from.client, parseReference(`${from.from}/org/big:v1`), { image: big });
  const text = `${mappingOf(from)}${from.from}/org/big:v1=${from.to}/m/big:v1\n`;
  const first = await archive(one, from, text);
  expect(first).toBeGreaterThan(20_000);
  expect(readdirSync(one)).toContain('archive-000006.tar');

  const added = sampleImage({ layers: ['base', 'added'] });
  await pushImage(from.client, parseReference(`${from.from}/org/c:new`), { image: added });
  const longer = `${text}${from.from}/org/c:new=${from.to}/m/c:new\n`;
  expect(await archive(two, from, longer, one)).toBeLessThan(first / 2);

  const refused = await load([two], from, longer);
  expect(refused.failed.map(({ why }) => why).join()).toContain('is in an earlier archive');
  expect(await load([one], from, text)).toMatchObject({ copied: 3, failed: [] });
  const second = await load([two], from, longer);
  expect(second).toMatchObject({ copied: 1, unchanged: 3, failed: [] });
  expect(second.blobs.uploaded).toBe(0);
  await expectWhole(from.client, `${from.to}/m/c:new`, added);
  await expectWhole(from.client, `${from.to}/m/big:v1`, big);
});

test('what is in an earlier archive is there under other names too, and so are referrers', async () => {
  const from = await scene();
  const sbom = sampleReferrer(list.root, 'test/sbom');
  const subject = parseReference(`${from.from}/org/a:list`);
  await pushImage(from.client, withDigest(subject, sbom.root.digest), { image: sbom });
  const [one, two] = [folder(), folder()];
  const text = mappingOf(from);
  const elsewhere = ['a:again', 'c:list'].map((name) => `${from.from}/org/a:list=${from.to}/m/${name}\n`);
  const longer = text + elsewhere.join('');
  await archive(one, from, text);
  await archive(two, from, longer, one);
  await load([one], from, text);
  expect(await load([two], from, longer)).toMatchObject({ copied: 2, unchanged: 2, failed: [] });
  for (const name of ['a:again', 'c:list']) {
    await expectWhole(from.client, `${from.to}/m/${name}`, list);
    const about = await from.client.listReferrers(parseReference(`${from.to}/m/${name}`), list.root.digest);
    expect(about.map(({ digest }) => digest)).toEqual([sbom.root.digest]);
  }
  const { registry: read } = await openArchives([one], from.client);
  const typesAs = async (type: string) =>
    (await read.listReferrers(parseReference(`${from.to}/m/a:list`), list.root.digest, type)).length;
  expect([await typesAs('test/sbom'), await typesAs('test/other')]).toEqual([1, 0]);
});

test('a receipt whose entries lack a field is refused', async () => {
  const from = await scene();
  const directory = folder();
  await archive(directory, from, mappingOf(from));
  const path = join(directory, 'receipt.json');
  const receipt = readFileSync(path, 'utf8');
  const lacking = ['"name":"[^"]*",', ',"mediaType":"[^"]*"', ',"offset":[0-9]*', ',"repository":"[^"]*"'];
  for (const field of lacking) {
    const changed = receipt.replaceAll(new RegExp(field, 'g'), '');
    expect(changed).not.toBe(receipt);
    writeFileSync(path, changed);
    await expect(openArchives([directory], from.client)).rejects.toMatchObject({ code: 'corrupt' });
  }
});

test('68: an archive that says another host has what it lacks leads to no request there', async () => {
  const from = await scene();
  const [one, two] = [folder(), folder()];
  const text = mappingOf(from);
  await archive(one, from, text);
  await archive(two, from, text, one);
  const path = join(two, 'receipt.json');
  const receipt = readFileSync(path, 'utf8');
  const { host, seen } = await registry();
  const asked = testClient([from.from, from.to, host]);
  writeFileSync(
    path,
    receipt.replaceAll(`"${from.to}/m/`, `"${host}/m/`).replaceAll(/"name":"[^/]+/g, `"name":"${from.to}`),
  );
  const report = await load([two], { ...from, client: asked }, text);
  expect(report.failed.map(({ why }) => why).join()).toContain('is in an earlier archive');
  expect(seen).toEqual([]);
});

test('a receipt with a repository that is none fails its images, and nothing else', async () => {
  const from = await scene();
  const [one, two] = [folder(), folder()];
  const text = mappingOf(from);
  await archive(one, from, text);
  await archive(two, from, text, one);
  const path = join(two, 'receipt.json');
  const changed = readFileSync(path, 'utf8').replaceAll(
    /"repository":"([^"/]*)\/[^"]*"/g,
    '"repository":"$1/Not A Name"',
  );
  writeFileSync(path, changed);
  const { failed } = await load([two], from, text);
  expect(failed.map(({ why }) => why)).toEqual(Array(2).fill('invalid registry or repository name'));
});

async function load(directories: readonly string[], { client }: Scene, text: string): Promise<CopyReport> {
  const { registry: from, holderOf } = await openArchives(directories, client);
  return copy(text, { from, to: client, holderOf, keepsReferrers: () => true, memory: NO_MEMORY }, true);
}

test('an archive with a byte that changed, or a part that is missing, is refused by name', async () => {
  const from = await scene();
  const directory = folder();
  await archive(directory, from, mappingOf(from));
  const receipt = receiptAt(directory);
  const blob = receipt.blobs.find(({ digest }) => digest === layer);
  const part = join(directory, `archive-00000${Math.floor((blob?.offset ?? 0) / 4096) + 1}.tar`);
  const bytes = readFileSync(part);
  const at = (blob?.offset ?? 0) % 4096;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(part, bytes);
  const { failed } = await load([directory], from, mappingOf(from));
  expect(failed.length).toBeGreaterThan(0);
  expect(failed[0]?.why).toContain(layer);
  writeFileSync(part, bytes.subarray(1));
  await expect(openArchives([directory], from.client)).rejects.toThrow('not 4096');
});

test('104: a registry that never answers is asked twice, and fails its images in one line', async () => {
  const from = await scene();
  const silent = await startHost(() => undefined);
  const client = testClient([from.from, silent.host], { timeouts: { look: 50 } });
  const clock = testClock();
  const ports = { ...from.ports, from: client, to: client, clock };
  const dead = ['a', 'b', 'c'].map((name) => `${from.from}/org/b:single=${silent.host}/m/${name}:v1\n`);
  const report = await copy(dead.join(''), ports);
  const [ofAll, ...others] = failureLines(report);
  expect([ofAll, others]).toEqual([`failed 3 images: ${silent.host} does not respond`, []]);
  expect(silent.asked).toHaveLength(2);
  expect(clock.waits).toEqual([2000]);
});

test('104: a registry that answers nothing but /v2/ is asked twice for one thing, as long as for a look-up', async () => {
  const from = await scene();
  const silent = await startHost(({ url }, response) => {
    if (url === '/v2/') reply(response, 200);
  });
  const client = testClient([from.from, silent.host], { timeouts: { look: 50, answer: 20_000 } });
  const clock = testClock();
  const ports = { ...from.ports, from: client, to: client, clock };
  const report = await copy(`${from.from}/org/b:single=${silent.host}/m/a:v1\n`, ports);
  expect(failureLines(report)).toEqual([expect.stringContaining(`${silent.host} does not respond`)]);
  const tags = 'GET /v2/m/a/tags/list?n=1000';
  expect(silent.asked.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v2/', tags, tags]);
  expect(clock.waits).toEqual([2000]);
});

test('68: a part or receipt of an archive that is a link is not read', async () => {
  const from = await scene();
  const directory = folder();
  await archive(directory, from, mappingOf(from));
  for (const name of ['archive-000001.tar', 'receipt.json']) {
    const [path, other] = [join(directory, name), join(folder(), name)];
    renameSync(path, other);
    symlinkSync(other, path);
    await expect(openArchives([directory], from.client)).rejects.toMatchObject({
      code: 'corrupt',
      message: `${path} is not a regular file of the archive`,
    });
    rmSync(path);
    renameSync(other, path);
  }
  expect(await load([directory], from, mappingOf(from))).toMatchObject({ copied: 2, failed: [] });
});

test('an archive that was cut off goes on behind what is complete', async () => {
  const from = await scene();
  const directory = folder();
  const cut = await openArchiveWriter({ directory, part: 1 << 20, since: undefined });
  await copy(`${from.from}/org/b:single=${from.to}/m/b:single\n`, { ...from.ports, to: cut.target });
  await cut.close();
  writeFileSync(join(directory, 'archive-000001.tar'), 'half a blob', { flag: 'a' });
  expect(existsSync(join(directory, 'receipt.json'))).toBe(false);
  await archive1(directory, from);
  expect(await load([directory], from, mappingOf(from))).toMatchObject({ copied: 2, failed: [] });
  await expectWhole(from.client, `${from.to}/m/a:list`, list);
});

async function archive1(directory: string, from: Scene): Promise<void> {
  const writer = await openArchiveWriter({ directory, part: 1 << 20, since: undefined });
  const report = await copy(mappingOf(from), { ...from.ports, to: writer.target });
  expect(report).toMatchObject({ copied: 1, unchanged: 1, failed: [] });
  await writer.finish();
}

const PART = 1 << 20;

/** An archive into which the second image was written by a run that was interrupted. */
async function interrupted(): Promise<{ from: Scene; directory: string; journal: string; first: string }> {
  const from = await scene();
  const directory = folder();
  const writer = await openArchiveWriter({ directory, part: PART, since: undefined });
  await copy(`${from.from}/org/b:single=${from.to}/m/b:single\n`, { ...from.ports, to: writer.target });
  await writer.close();
  return {
    from,
    directory,
    journal: join(directory, 'receipt.part'),
    first: join(directory, 'archive-000001.tar'),
  };
}

test('a journal that a full disk has cut short is gone on with, however often that happens', async () => {
  const { from, directory, journal } = await interrupted();
  writeFileSync(journal, '{"blob":{"digest":"sha2', { flag: 'a' });
  const again = await openArchiveWriter({ directory, part: PART, since: undefined });
  expect(await copy(mappingOf(from), { ...from.ports, to: again.target })).toMatchObject({ failed: [] });
  await again.close();
  writeFileSync(journal, '{"na', { flag: 'a' });
  const last = await openArchiveWriter({ directory, part: PART, since: undefined });
  expect(await copy(mappingOf(from), { ...from.ports, to: last.target })).toMatchObject({
    copied: 0,
    unchanged: 2,
  });
  await last.finish();
  expect(await load([directory], from, mappingOf(from))).toMatchObject({ copied: 2, failed: [] });
});

test('a journal without a whole line gets its first one again', async () => {
  const { directory, journal } = await interrupted();
  writeFileSync(journal, '{"par');
  await (await openArchiveWriter({ directory, part: PART, since: undefined })).close();
  await expect(openArchiveWriter({ directory, part: 4096, since: undefined })).rejects.toThrow(
    `has parts of ${PART} bytes`,
  );
});

test('a journal that cannot be written is named', async () => {
  const { from, directory, journal } = await interrupted();
  const writer = await openArchiveWriter({ directory, part: PART, since: undefined });
  rmSync(journal);
  mkdirSync(journal);
  const { failed } = await copy(mappingOf(from), { ...from.ports, to: writer.target });
  expect(failed.map(({ why }) => why).join()).toContain(`cannot write ${journal}: it is a directory`);
  await writer.close();
});

test('what the journal says and the parts do not have is written again', async () => {
  const { from, directory, first } = await interrupted();
  truncateSync(first, statSync(first).size - 100);
  const again = await openArchiveWriter({ directory, part: PART, since: undefined });
  expect(await copy(mappingOf(from), { ...from.ports, to: again.target })).toMatchObject({
    copied: 2,
    failed: [],
  });
  await again.finish();
  expect(await load([directory], from, mappingOf(from))).toMatchObject({ copied: 2, failed: [] });
  await expectWhole(from.client, `${from.to}/m/b:single`, single);
});

test('a whole archive that has lost an end is not gone on with', async () => {
  const { from, directory, first } = await interrupted();
  await archive1(directory, from);
  truncateSync(first, 100);
  await expect(openArchiveWriter({ directory, part: PART, since: undefined })).rejects.toThrow(
    'ends at byte 100, but its receipt declares',
  );
});

test('an upload in chunks goes on in another process', async () => {
  const { client, ...hosts } = await scene();
  const bytes = noise(1_000_000);
  const open = async function* (from: number) {
    yield bytes.subarray(from);
  };
  const blob = { digest: digestOf(bytes), size: bytes.length, open };
  const to = parseReference(`${hosts.to}/m/big:v1`);
  const state = join(folder(), 'state');
  let chunks = 0;
  const proxy = await faultProxy(hosts.to, ({ method }) =>
    method === 'PATCH' && ++chunks > 5 ? { kind: 'cut' } : { kind: 'pass' },
  );
  const flaky = testClient([proxy.host]);
  const put = (through: RegistryClient, host: string, memory = openMemory(state).upload('big', 100_000)) =>
    through.putBlob({ ...to, registry: host }, blob, { chunk: 100_000, ...(memory && { memory }) });
  await expect(put(flaky, proxy.host)).rejects.toThrow();
  writeFileSync(state, `${readFileSync(state, 'utf8').replaceAll(proxy.host, hosts.to)}["cut sho`);
  expect(openMemory(state).isContinued).toBe(true);
  expect(await put(client, hosts.to)).toBe('uploaded');
  expect(client.traffic().get(hosts.to)?.sent).toBeLessThan(600_000);
  expect(await client.hasBlob(to, blob.digest)).toBe(true);
  openMemory(state).end();
  expect(existsSync(state)).toBe(false);
});

test('where uploads were opened is remembered by destination and digest, also where a line was cut short', () => {
  const state = join(folder(), 'state');
  const memory = openMemory(state);
  memory.uploads('a@1')?.begun('http://r/1');
  memory.uploads('a@1')?.begun('http://r/2');
  memory.upload('a@1', 1)?.note('http://r/3');
  writeFileSync(state, `${readFileSync(state, 'utf8')}["a@1",3]\n["begun","a@1","cut`);
  expect(openMemory(state).uploads('a@1')?.earlier).toEqual(['http://r/1', 'http://r/2']);
  expect(openMemory(state).upload('a@1', 1)?.location).toBe('http://r/3');
  expect(openMemory(state).uploads('b@1')?.earlier).toEqual([]);
  openMemory(state).uploads('b@1')?.begun('http://r/4');
  expect(openMemory(state).uploads('b@1')?.earlier).toEqual(['http://r/4']);
});
