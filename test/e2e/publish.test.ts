/** A merge published by the built program, read back by tools that others wrote. */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { pushImage, readImage } from '../../pipeline/oci/registry/push.ts';
import type { Manifest } from '../../pipeline/ports.ts';
import { folder } from '../fakes/folder.ts';
import { testClient } from '../fakes/host.ts';
import { sampleImage } from '../fakes/image.ts';
import { buildProgram, program } from '../fakes/program.ts';
import { registry } from '../fakes/registry.ts';
import { type SampleRepository, sampleRepository } from '../fakes/sample.ts';
import { freePort, isOnPath, run, start } from '../fakes/tools.ts';

const HISTORY = join(process.env['PORTOLAN_GOLDEN'] ?? '../shared/golden', '../data/pr-history.bundle');

let repository: SampleRepository;
beforeAll(() => {
  buildProgram();
  repository = sampleRepository();
  return repository.remove;
});

/** Publishes in a process of its own: the registry of the test answers from this one. */
async function publish(...parameters: readonly string[]): Promise<string> {
  const words = ['publish', '--repo', repository.directory, '--catalog', 'v4.20', ...parameters];
  return (await run(process.execPath, 'dist/portolan.mjs', ...words)).toString();
}

function digestIn(text: string): string {
  return /digest +(sha256:[0-9a-f]{64})/.exec(text)?.[1] ?? '';
}

/** The FBC of an unpacked image, as opm would render it. */
function renderOf(directory: string): string {
  return program(['render', directory]).out;
}

/** Digests of the layers of the first manifest. */
function layersOf([manifest]: readonly Manifest[]): string[] {
  const { layers } = JSON.parse(new TextDecoder().decode(manifest?.bytes)) as {
    layers: { digest: string }[];
  };
  return layers.map(({ digest }) => digest);
}

async function published() {
  const { host, seen } = await registry();
  const out = folder();
  const to = ['--to', `${host}/sea/catalog:v4.20`, '--insecure', host, '--out', out];
  return {
    host,
    seen,
    out,
    to,
    name: `${host}/sea/catalog:v4.20`,
    text: await publish('--commit', 'main', ...to),
  };
}

describe('publish', () => {
  test('the same commit is the same digest, and nothing is uploaded again', async () => {
    const { to, text, seen, out, host } = await published();
    expect(digestIn(text)).toMatch(/^sha256:/);
    const found = join(out, 'found');
    const plan = ['mirror', 'plan', join(out, 'receipt.json'), '--insecure', host, '--out', found];
    await run(process.execPath, 'dist/portolan.mjs', ...plan);
    expect(readFileSync(join(found, 'mapping.txt'))).toEqual(readFileSync(join(out, 'mapping.txt')));
    const before = seen.length;
    const again = await publish('--commit', 'main', ...to);
    expect(digestIn(again)).toBe(digestIn(text));
    expect(again).toContain('uploaded 0 bytes');
    // A greeting, what the tag names, whether the image, its commit and the mirror's plan are there, and the tag twice again:
    // before it is claimed, and before it would move.
    expect(seen.slice(before).map(({ method, received }) => [method, received])).toEqual([
      ['GET', 0],
      ['HEAD', 0],
      ['GET', 0],
      ['GET', 0],
      ['GET', 0],
      ['HEAD', 0],
      ['HEAD', 0],
    ]);
  });

  test('the six documents of a mirror, and a receipt', async () => {
    const { to, out } = await published();
    await publish('--commit', 'main', ...to, '--mirror-to', 'mirror.example.com/olm');
    for (const name of [
      'mapping.txt',
      'imageContentSourcePolicy.yaml',
      'imageDigestMirrorSet.yaml',
      'imageTagMirrorSet.yaml',
      'catalogSource.yaml',
      'clusterCatalog.yaml',
      'receipt.json',
    ]) {
      expect(readFileSync(join(out, name), 'utf8'), name).not.toBe('');
    }
    const receipt = JSON.parse(readFileSync(join(out, 'receipt.json'), 'utf8'));
    expect(receipt).toMatchObject({
      kind: 'PublishReceipt',
      catalog: 'v4.20',
      commit: repository.base,
      packages: 3,
    });
  });

  test('a version that is added sends one package and the manifests', async () => {
    const { to, text } = await published();
    const next = await publish('--commit', 'addition', ...to);
    expect(digestIn(next)).not.toBe(digestIn(text));
    expect(next).toMatch(/\(\d+ blobs?; [1-9]\d* already existed/);
  });

  test('on a base image: its layers are there, untouched', async () => {
    const { host, to, name } = await published();
    const base = sampleImage({ architectures: ['amd64', 'arm64'], layers: ['opm', 'probe'] });
    const client = testClient([host]);
    await pushImage(client, parseReference(`${host}/base/opm:v1`), { image: base });
    const text = await publish('--commit', 'main', ...to, '--base-image', `${host}/base/opm:v1`);
    const { root, manifests, blobs } = await readImage(client, parseReference(name));
    expect(digestIn(text)).toBe(root.digest);
    expect(manifests).toHaveLength(2);
    const layers = layersOf(base.manifests);
    expect(layersOf(manifests).slice(0, layers.length)).toEqual(layers);
    expect(blobs.map(({ digest }) => digest)).toEqual(expect.arrayContaining(layers));
    expect(text).toMatch(new RegExp(`, ${new Set(layers).size} mounted`));
  });

  test.skipIf(!isOnPath('skopeo') || !isOnPath('umoci'))('skopeo copies it, umoci unpacks it', async () => {
    const { name } = await published();
    const layout = join(folder(), 'layout');
    await run('skopeo', 'copy', '--src-tls-verify=false', `docker://${name}`, `oci:${layout}:v1`);
    const unpacked = join(folder(), 'bundle');
    await run('umoci', 'unpack', '--rootless', '--image', `${layout}:v1`, unpacked);
    const configs = join(unpacked, 'rootfs/configs');
    expect(readdirSync(configs).sort()).toEqual([
      'ferry-operator',
      'harbour-operator',
      'lighthouse-operator',
    ]);
    expect(renderOf(configs)).toBe(renderOf('test/catalogs/sample/catalogs/v4.20'));
  });

  test.skipIf(!isOnPath('crane'))(
    'crane reads the manifest and exports the catalog byte for byte',
    async () => {
      const { name, text } = await published();
      const manifest = await run('crane', 'manifest', name);
      expect(JSON.parse(manifest.toString())).toMatchObject({ schemaVersion: 2 });
      expect((await run('crane', 'digest', name)).toString().trim()).toBe(digestIn(text));
      await run('crane', 'validate', '--remote', name);
      const at = folder();
      writeFileSync(join(at, 'fs.tar'), await run('crane', 'export', '--platform', 'linux/amd64', name, '-'));
      execFileSync('tar', ['-xf', join(at, 'fs.tar'), '-C', at]);
      expect(renderOf(join(at, 'configs'))).toBe(renderOf('test/catalogs/sample/catalogs/v4.20'));
    },
  );

  test.skipIf(!isOnPath('regctl'))('regctl reads it', async () => {
    const { host, name, text } = await published();
    const config = join(folder(), 'config.json');
    writeFileSync(config, JSON.stringify({ hosts: { [host]: { tls: 'disabled', hostname: host } } }));
    const environment = { ...process.env, REGCTL_CONFIG: config };
    const { stdout } = await promisify(execFile)('regctl', ['image', 'digest', name], { env: environment });
    expect(stdout.trim()).toBe(digestIn(text));
  });
});

describe.skipIf(!existsSync(HISTORY) || !isOnPath('docker-registry') || !isOnPath('skopeo'))(
  'a real catalog to a real registry',
  () => {
    test('v4.20 of a community repository, pulled back by skopeo', async () => {
      const clone = folder();
      execFileSync('git', ['clone', '--quiet', '--bare', HISTORY, clone]);
      const host = `127.0.0.1:${await freePort()}`;
      const at = folder();
      const config = join(at, 'config.yml');
      const storage = `storage: {filesystem: {rootdirectory: ${join(at, 'data')}}}`;
      writeFileSync(config, `version: 0.1\nlog: {level: error}\n${storage}\nhttp: {addr: "${host}"}\n`);
      await start({ program: 'docker-registry', parameters: ['serve', config], url: `http://${host}/v2/` });
      const name = `${host}/community/catalog:v4.20`;
      const words = ['publish', '--repo', clone, '--catalog', 'v4.20', '--to', name, '--insecure', host];
      const ended = program([...words, '--out', join(at, 'out')]);
      expect(ended.exit, ended.err).toBe(0);
      const layout = join(at, 'layout');
      await run(
        'skopeo',
        'copy',
        '--all',
        '--src-tls-verify=false',
        `docker://${name}`,
        `oci:${layout}:v4.20`,
      );
      const raw = await run('skopeo', 'inspect', '--raw', '--tls-verify=false', `docker://${name}`);
      expect(`sha256:${createHash('sha256').update(raw).digest('hex')}`).toBe(digestIn(ended.out));
    });
  },
);
