/** The embedded registry, and layouts, in the hands of tools that others wrote. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { digestOf } from '../../pipeline/oci/digest.ts';
import { createRegistryClient } from '../../pipeline/oci/registry/client.ts';
import type { RegistryOptions } from '../../pipeline/oci/registry/embedded/server.ts';
import { parseLocation } from '../../pipeline/oci/registry/image-location.ts';
import { openDestination, openSource } from '../../pipeline/oci/registry/open.ts';
import { copyImage, type ImageContent, pushImage, readImage } from '../../pipeline/oci/registry/push.ts';
import { folder } from '../fakes/folder.ts';
import { testClient } from '../fakes/host.ts';
import { bytesOf, noise, sampleImage, sampleReferrer } from '../fakes/image.ts';
import { registry } from '../fakes/registry.ts';
import { isOnPath, run } from '../fakes/tools.ts';

const image = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['a', noise(300_000)] });
const single = sampleImage({ layers: ['a', noise(300_000)] });

/** A test that is skipped, by name, where a program is missing. */
function withTools(programs: readonly string[], name: string, body: () => Promise<void>): void {
  const missing = programs.filter((program) => !isOnPath(program));
  test.skipIf(missing.length > 0)(missing.length > 0 ? `${name} (needs ${missing.join(', ')})` : name, body);
}

async function served(options: Partial<RegistryOptions> = {}, content: ImageContent = image) {
  const real = await registry(options);
  const credentials = { credential: async () => ({ kind: 'basic', username: 'u', password: 'p' }) as const };
  const client = testClient([real.host], { credentials });
  await pushImage(client, parseReference(`${real.host}/org/app:v1`), { image: content });
  return { ...real, client };
}

async function expectSame(host: string, name: string, content: ImageContent = image): Promise<void> {
  const { root, manifests, blobs } = await readImage(testClient([host]), parseReference(`${host}/${name}`));
  expect([root, ...manifests]).toEqual([content.root, ...content.manifests]);
  for (const blob of blobs) expect(digestOf(await bytesOf(blob.open(0)))).toBe(blob.digest);
}

describe('crane', () => {
  withTools(['crane'], 'reads, copies, lists and exports', async () => {
    const { host } = await served();
    const name = `${host}/org/app:v1`;
    expect((await run('crane', 'digest', name)).toString().trim()).toBe(image.root.digest);
    expect((await run('crane', 'manifest', name)).equals(Buffer.from(image.root.bytes))).toBe(true);
    await run('crane', 'validate', '--remote', name);
    await run('crane', 'copy', name, `${host}/copy/app:v2`);
    await expectSame(host, 'copy/app:v2');
    expect((await run('crane', 'ls', `${host}/copy/app`)).toString()).toBe('v2\n');
    expect((await run('crane', 'catalog', host)).toString()).toBe('copy/app\norg/app\n');
    const tar = await run('crane', 'export', '--platform', 'linux/arm64', name, '-');
    expect(tar.includes('file-0')).toBe(true);
  });

  withTools(['crane'], 'pushes a layout, tags and removes', async () => {
    const { host, client } = await served();
    const directory = join(folder(), 'layout');
    const to = await openDestination(parseLocation(`oci:${directory}:v1`), client);
    await pushImage(to.registry, to.reference, { image });
    await run('crane', 'push', '--index', directory, `${host}/pushed:all`);
    await run('crane', 'tag', `${host}/org/app:v1`, 'v3');
    await expectSame(host, 'org/app:v3');
    await run('crane', 'delete', `${host}/org/app@${image.root.digest}`);
    expect(await client.resolve(parseReference(`${host}/org/app:v3`))).toBeUndefined();
  });

  withTools(['crane'], 'pulls into a docker-archive that we read', async () => {
    const { host, client } = await served({}, single);
    const file = join(folder(), 'image.tar');
    await run('crane', 'pull', `${host}/org/app:v1`, file);
    const from = await openSource(parseLocation(`docker-archive:${file}`), client);
    const { blobs } = await readImage(from.registry, from.reference);
    expect(new Set(blobs.map(({ digest }) => digest))).toEqual(
      new Set(single.blobs.map(({ digest }) => digest)),
    );
    await from.close();
  });
});

describe('regctl', () => {
  /** A configuration by which regctl speaks plain HTTP with a host. */
  const config = (host: string, access: object = {}): string => {
    const directory = folder();
    writeFileSync(
      join(directory, 'config.json'),
      JSON.stringify({ hosts: { [host]: { tls: 'disabled', ...access } } }),
    );
    return join(directory, 'config.json');
  };
  const regctl = (path: string, ...parameters: readonly string[]) =>
    run('env', `REGCTL_CONFIG=${path}`, 'regctl', ...parameters);

  withTools(['regctl'], 'copies with referrers, lists and removes', async () => {
    const { host, client } = await served();
    const path = config(host);
    const about = sampleReferrer(image.root, 'test/sbom');
    const tag = parseReference(`${host}/org/app:v1`);
    await pushImage(
      client,
      { kind: 'digest', registry: host, repository: 'org/app', digest: about.root.digest },
      { image: about },
    );
    await regctl(path, 'image', 'copy', '--referrers', `${host}/org/app:v1`, `${host}/copy:v1`);
    await expectSame(host, 'copy:v1');
    expect(await client.listReferrers({ ...tag, repository: 'copy' }, image.root.digest)).toMatchObject([
      { artifactType: 'test/sbom' },
    ]);
    const listed = await regctl(path, 'artifact', 'list', `${host}/org/app:v1`, '--format', '{{json .}}');
    expect(JSON.parse(listed.toString())).toMatchObject({ descriptors: [{ artifactType: 'test/sbom' }] });
    expect((await regctl(path, 'tag', 'ls', `${host}/copy`)).toString()).toContain('v1');
    await regctl(path, 'tag', 'rm', `${host}/copy:v1`);
    expect(await client.resolve(parseReference(`${host}/copy:v1`))).toBeUndefined();
  });

  withTools(['regctl'], 'uploads in chunks, with a token', async () => {
    const { host } = await served({ access: { kind: 'token', accounts: { u: 'p' }, anonymousPull: true } });
    const path = config(host, { user: 'u', pass: 'p', blobChunk: 100_000, blobMax: 100_000 });
    await regctl(path, 'image', 'copy', `${host}/org/app:v1`, `ocidir://${folder()}/x:v1`);
    const blob = noise(350_000);
    const file = join(folder(), 'blob');
    writeFileSync(file, blob);
    await run('sh', '-c', `REGCTL_CONFIG=${path} regctl blob put ${host}/org/app < ${file}`);
    expect((await regctl(path, 'blob', 'get', `${host}/org/app`, digestOf(blob))).equals(blob)).toBe(true);
  });
});

describe('skopeo', () => {
  withTools(['skopeo'], 'reads, copies all platforms and signs in', async () => {
    const { host } = await served();
    const raw = await run('skopeo', 'inspect', '--raw', '--tls-verify=false', `docker://${host}/org/app:v1`);
    expect(digestOf(raw)).toBe(image.root.digest);
    const plain = ['--src-tls-verify=false', '--dest-tls-verify=false'];
    await run(
      'skopeo',
      'copy',
      '-q',
      '--all',
      ...plain,
      `docker://${host}/org/app:v1`,
      `docker://${host}/copy:v1`,
    );
    await expectSame(host, 'copy:v1');
    const secure = await served({ access: { kind: 'basic', accounts: { u: 'p' } } });
    const inspect = (creds: string) =>
      run(
        'skopeo',
        'inspect',
        '--raw',
        '--tls-verify=false',
        '--creds',
        creds,
        `docker://${secure.host}/org/app:v1`,
      );
    expect(digestOf(await inspect('u:p'))).toBe(image.root.digest);
    await expect(inspect('u:wrong')).rejects.toThrow();
    const token = await served({ access: { kind: 'token', accounts: { u: 'p' } } });
    const target = `docker://${token.host}/own:v1`;
    await run(
      'skopeo',
      'copy',
      '-q',
      ...plain,
      '--src-creds',
      'u:p',
      '--dest-creds',
      'u:p',
      '--all',
      `docker://${token.host}/org/app:v1`,
      target,
    );
    expect(await token.client.resolve(parseReference(`${token.host}/own:v1`))).toMatchObject({
      digest: image.root.digest,
    });
  });

  withTools(['skopeo'], 'reads and writes layouts and archives as we do', async () => {
    const client = createRegistryClient();
    const directory = folder();
    for (const [kind, content] of [
      ['oci', image],
      ['oci-archive', image],
    ] as const) {
      const place = `${kind}:${directory}/${kind}:v1`;
      const to = await openDestination(parseLocation(place), client);
      await pushImage(to.registry, to.reference, { image: content });
      await to.finish();
      expect(digestOf(await run('skopeo', 'inspect', '--raw', place))).toBe(content.root.digest);
      const copy = `${kind}:${directory}/${kind}-copy:v1`;
      await run('skopeo', 'copy', '-q', '--all', place, copy);
      const from = await openSource(parseLocation(copy), client);
      expect((await readImage(from.registry, from.reference)).root).toEqual(content.root);
      await from.close();
    }
    const named = `oci:${directory}/oci:org/app:v2`;
    const to = await openDestination(parseLocation(named), client);
    await pushImage(to.registry, to.reference, { image: single });
    expect(digestOf(await run('skopeo', 'inspect', '--raw', named))).toBe(single.root.digest);
  });

  withTools(['skopeo'], 'reads and writes docker-archives as we do', async () => {
    const client = createRegistryClient();
    const directory = folder();
    const ours = `docker-archive:${directory}/ours.tar`;
    const to = await openDestination(parseLocation(`${ours}:quay.io/org/app:v1`), client);
    await pushImage(to.registry, to.reference, { image: single });
    await to.finish();
    const told = JSON.parse((await run('skopeo', 'inspect', ours)).toString());
    expect(told).toMatchObject({ Architecture: 'amd64', Os: 'linux' });
    expect(told.Layers).toHaveLength(2);
    const theirs = `docker-archive:${directory}/theirs.tar`;
    await run('skopeo', 'copy', '-q', ours, `${theirs}:quay.io/org/app:v1`);
    const from = await openSource(parseLocation(theirs), client);
    const { blobs } = await readImage(from.registry, from.reference);
    for (const blob of blobs) expect(digestOf(await bytesOf(blob.open(0)))).toBe(blob.digest);
    const layout = await openDestination(parseLocation(`oci:${directory}/layout:v1`), client);
    await copyImage(from, layout);
    await from.close();
  });

  withTools(['skopeo'], 'serves a directory that skopeo wrote', async () => {
    const client = createRegistryClient();
    const directory = folder();
    const to = await openDestination(parseLocation(`oci:${directory}/first:v1`), client);
    await pushImage(to.registry, to.reference, { image });
    await run('skopeo', 'copy', '-q', '--all', `oci:${directory}/first:v1`, `oci:${directory}/handed:v4.20`);
    const { host } = await registry({ directory: `${directory}/handed`, readOnly: true });
    await expectSame(host, 'catalog:v4.20');
  });
});

describe('umoci', () => {
  withTools(['umoci'], 'unpacks what we wrote into a layout, beside other repositories', async () => {
    const client = createRegistryClient();
    const directory = folder();
    for (const [name, content] of [
      ['v1', single],
      ['org/app:v2', single],
    ] as const) {
      const to = await openDestination(parseLocation(`oci:${directory}/layout:${name}`), client);
      await pushImage(to.registry, to.reference, { image: content });
    }
    expect((await run('umoci', 'list', '--layout', `${directory}/layout`)).toString()).toBe(
      'v1\norg/app:v2\n',
    );
    for (const [i, name] of ['v1', 'org/app:v2'].entries()) {
      mkdirSync(join(directory, 'out'), { recursive: true });
      const bundle = join(directory, 'out', String(i));
      await run('umoci', 'unpack', '--rootless', '--image', `${directory}/layout:${name}`, bundle);
      expect(readFileSync(join(bundle, 'rootfs/file-0'), 'utf8')).toBe('a');
    }
    await run('umoci', 'gc', '--layout', `${directory}/layout`);
    const from = await openSource(parseLocation(`oci:${directory}/layout:v1`), client);
    expect((await readImage(from.registry, from.reference)).root).toEqual(single.root);
  });
});
