// A release without the world outside: every file of it, the image in a registry, the package in a registry of npm's, and
// then what people do with them.

import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { load } from 'js-yaml';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { INSTALL, withInstall } from '../../scripts/install.ts';
import { folder } from '../fakes/folder.ts';
import { catalogOf } from '../fakes/gate.ts';
import { nodeBase } from '../fakes/node-base.ts';
import { buildProgram, program } from '../fakes/program.ts';
import { dockerRegistry } from '../fakes/real-registry.ts';
import { makeRepository } from '../fakes/repository.ts';
import { freePort, run, start } from '../fakes/tools.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const PACKAGE = `portolan-${version}.tgz`;
const SAMPLE = resolve('test/catalogs/sample/catalogs/v4.20');
const TEN_MINUTES = 600_000;

beforeAll(buildProgram);

const release = (...words: readonly string[]): Promise<Buffer> =>
  run(process.execPath, 'scripts/run.mjs', 'scripts/release/main.ts', ...words);

/** Everything of a release, in a directory. */
async function prepared(host: string): Promise<string> {
  const out = folder();
  await release(
    ...['prepare', '--tag', `v${version}`, '--notes', 'Unreleased', '--out', out],
    ...['--base-image', await nodeBase(host), '--plain-http', host],
  );
  return out;
}

test(
  'from the tag to a catalog that is checked with what was installed',
  async () => {
    const { host, client } = await dockerRegistry();
    const out = await prepared(host);
    expect(readdirSync(out).sort()).toEqual(
      [
        'SHA256SUMS',
        'cases.json',
        'image',
        'notes.md',
        'playground.html',
        PACKAGE,
        'sbom.cdx.json',
        'tekton',
        'chart',
      ].sort(),
    );
    const sums = String(await run('sh', '-c', `cd ${out} && sha256sum --check --strict SHA256SUMS`));
    for (const name of [PACKAGE, 'image/index.json', 'tekton/index.json', 'chart/index.json'])
      expect(sums).toContain(`${name}: OK`);
    // A fifth of it is the file that `check` starts from: a tenth of a second in each check.
    expect(statSync(join(out, PACKAGE)).size).toBeLessThan(4_150_000);
    const sbom = JSON.parse(readFileSync(join(out, 'sbom.cdx.json'), 'utf8'));
    expect(sbom.components.map(({ name }: { name: string }) => name)).toContain('ajv');

    // The same sources are the same image.
    const index = (folder: string): string => readFileSync(join(folder, 'image', 'index.json'), 'utf8');
    expect(index(await prepared(host))).toBe(index(out));

    // The image, signed, under its versions.
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keys = folder();
    writeFileSync(join(keys, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    writeFileSync(join(keys, 'key.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    const to = `${host}/portolan`;
    await release(
      ...['push', '--from', out, '--to', to, '--plain-http', host, '--sign', join(keys, 'key.pem')],
    );
    const tags: string[] = [];
    for await (const tag of client.listTags({ registry: host, repository: 'portolan' })) tags.push(tag);
    const [major, minor] = version.split('.');
    expect(tags).toEqual(expect.arrayContaining([version, `${major}.${minor}`, major]));
    const verify = ['verify', '--insecure', host, '--key', join(keys, 'key.pub'), `${to}:${version}`];
    expect(program(verify)).toMatchObject({ exit: 0 });
    const { privateKey: _, publicKey: foreign } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writeFileSync(join(keys, 'foreign.pub'), foreign.export({ type: 'spki', format: 'pem' }));
    const refused = verify.map((word) => word.replace('key.pub', 'foreign.pub'));
    expect(program(refused).exit).toBe(1);

    // An older release takes no tag back.
    await run('crane', 'tag', '--insecure', `${to}:${version}`, `${major}.999.0`);
    await run('crane', 'copy', '--insecure', await nodeBase(host), `${to}:${major}`);
    const before = String(await run('crane', 'digest', '--insecure', `${to}:${major}`));
    await release(...['push', '--from', out, '--to', to, '--plain-http', host]);
    expect(String(await run('crane', 'digest', '--insecure', `${to}:${major}`))).toBe(before);

    // What is in the image runs.
    const layout = folder();
    await run(
      ...(['skopeo', '--override-arch', 'arm64', 'copy', '--quiet', '--src-tls-verify=false'] as const),
      ...[`docker://${to}:${version}`, `oci:${layout}:one`],
    );
    const bundle = join(folder(), 'bundle');
    await run('umoci', 'unpack', '--rootless', '--image', `${layout}:one`, bundle);
    const local = join(bundle, 'rootfs/usr/local/lib/node_modules/portolan');
    expect(String(await run(process.execPath, join(local, 'dist/portolan.mjs'), '--version'))).toBe(
      `portolan ${version}\n`,
    );
    const { process: started } = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8'));
    expect(existsSync(join(bundle, 'rootfs/app/kubernetes.mjs'))).toBe(true);
    expect(readlinkSync(join(bundle, 'rootfs/usr/local/bin/portolan'))).toBe(started.args[1]);
    expect(started.args).toEqual([
      'node',
      '/usr/local/lib/node_modules/portolan/dist/portolan.mjs',
      '--help',
    ]);
    expect(started.user.uid).toBe(1000);

    // Tekton's tasks name that image by its digest.
    const image = String(await run('crane', 'digest', '--insecure', `${to}:${version}`)).trim();
    const { layers } = JSON.parse(
      String(await run('crane', 'manifest', '--insecure', `${to}/tekton:${version}`)),
    );
    const names = layers.map((layer: Layer) => layer.annotations['dev.tekton.image.name']);
    expect(names).toEqual(['portolan-check', 'portolan-mirror-sync', 'portolan-publish']);
    for (const { digest, annotations } of layers as readonly Layer[]) {
      const name = annotations['dev.tekton.image.name'];
      const tar = join(folder(), 'layer.tar.gz');
      writeFileSync(tar, await run('crane', 'blob', '--insecure', `${to}/tekton@${digest}`));
      const task = load(String(await run('tar', '-xzOf', tar, `${name}`))) as Task;
      expect(task.metadata.name).toBe(name);
      expect(task.spec.steps.map((step) => step.image.split('@')[1])).toEqual([image]);
    }

    // The chart starts that image by itself.
    const helm = ['show', 'values', `oci://${to}/chart/portolan`, '--version', version, '--plain-http'];
    const values = load(String(await run('helm', ...helm))) as {
      readonly image: { readonly digest: string };
    };
    expect(values.image.digest).toBe(image);

    // The package, installed by somebody who has Node and nothing else.
    const npm = await npmRegistry();
    await run(
      'npm',
      'publish',
      join(out, PACKAGE),
      '--registry',
      npm,
      ...npmLogin(npm),
      '--provenance=false',
    );
    const home = folder();
    const bare = bareHome(home, npm);
    const { install, npx } = publishedCommands();
    const installed = bare('sh', '-c', install);
    expect(installed.status, installed.stderr).toBe(0);
    expect(bare('portolan', '--version').stdout).toBe(`portolan ${version}\n`);
    expect(bare('portolan', 'validate', SAMPLE)).toMatchObject({ status: 0 });
    expect(bare('portolan', 'list', 'channels', SAMPLE).stdout).toContain('lighthouse-operator');
    // What editors start needs a package of its own, which the installation brings.
    writeFileSync(join(home, 'hello'), framed({ id: 1, method: 'initialize', params: { capabilities: {} } }));
    writeFileSync(join(home, 'bye'), framed({ id: 2, method: 'shutdown' }) + framed({ method: 'exit' }));
    const served = bare(
      'sh',
      '-c',
      `{ cat ${home}/hello; sleep 2; cat ${home}/bye; sleep 2; } | portolan lsp`,
    );
    expect(served.status, served.stderr).toBe(0);
    expect(served.stdout).toContain('"hoverProvider":true');
    // README's first command, in a clone where the second change strands clusters on 1.0.0.
    const { directory, chain, git, remove } = makeRepository();
    onTestFinished(remove);
    const file = 'catalogs/v4.20/etcd/catalog.yaml';
    const commits = chain({ [file]: catalogOf('etcd', ['1.0.0']) }, { [file]: catalogOf('etcd', ['2.0.0']) });
    git('reset', '--hard', '--quiet', commits.at(-1) ?? '');
    expect(bare('sh', '-c', `cd ${directory} && portolan rehearse`).stdout).toContain(
      'Stranded clusters by month:\n  2023-11: 1 merge; etcd 1.0.0 in v4.20',
    );
    // Without an installation.
    expect(bare('sh', '-c', `${npx} --version`).stdout).toBe(`portolan ${version}\n`);
  },
  TEN_MINUTES,
);

describe('a release is refused', () => {
  test.each([
    ['under a tag of another version', ['--tag', 'v99.0.0'], 'the tag must be v'],
    ['under no version', ['--tag', 'main'], 'the tag must be v'],
    ['without notes', ['--tag', `v${version}`, '--notes', '99.0.0'], 'CHANGELOG.md has no section'],
  ])('%s', async (_, words, why) => {
    const out = join(folder(), 'out');
    await expect(release('prepare', '--out', out, '--base-image', 'oci:nowhere', ...words)).rejects.toThrow(
      why,
    );
  });
});

interface Layer {
  readonly digest: string;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Task {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly steps: readonly { readonly image: string }[] };
}

/** Verdaccio, which passes on what it does not have. @returns its URL */
async function npmRegistry(): Promise<string> {
  const directory = folder();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const above = String(await run('npm', 'config', 'get', 'registry')).trim();
  const config = join(directory, 'config.yaml');
  writeFileSync(
    config,
    [
      `storage: ${directory}/storage`,
      `auth: {htpasswd: {file: ${directory}/htpasswd}}`,
      `uplinks: {above: {url: '${above}'}}`,
      'packages:',
      '  portolan: {access: $all, publish: $anonymous}',
      "  '**': {access: $all, proxy: above}",
      'log: {type: stdout, level: fatal}',
    ].join('\n'),
  );
  await start({
    program: 'verdaccio',
    parameters: ['--config', config, '--listen', `127.0.0.1:${port}`],
    url,
  });
  return url;
}

/** npm publishes for somebody only; Verdaccio takes anybody. */
function npmLogin(url: string): string[] {
  return [`--${url.replace('http:', '')}/:_authToken=anybody`];
}

/** A message of the Language Server Protocol. */
function framed(message: object): string {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** The commands for the `PATH` and for a single run that README shows once the package is published. */
function publishedCommands(): { readonly install: string; readonly npx: string } {
  const readme = withInstall(readFileSync('README.md', 'utf8'), { ...INSTALL, published: true });
  const [, place = ''] = /<!-- install: command-line -->([\s\S]*?)<!-- end of install -->/.exec(readme) ?? [];
  const [, install = ''] = /```\n(.*)\n```/.exec(place) ?? [];
  const [npx = ''] = /npx [^`]+/.exec(place) ?? [];
  return { install, npx };
}

/** Runs programs in a home where there is nothing but Node, npm, git and a shell; npm asks `registry`. */
function bareHome(home: string, registry: string) {
  const prefix = join(home, 'npm');
  const path = [join(prefix, 'bin'), resolve(process.execPath, '..'), '/usr/bin', '/bin'].join(delimiter);
  const env = { PATH: path, HOME: home, npm_config_prefix: prefix, npm_config_registry: registry };
  return (program: string, ...words: readonly string[]) =>
    spawnSync(program, words, { cwd: home, env, encoding: 'utf8' });
}
