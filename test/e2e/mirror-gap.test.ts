/**
 * The way across an air gap with the built program: the sources in one network namespace, the mirror in another one, and
 * nothing but a directory between them.
 */
import { execFile, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { sourceOf } from '../../catalog/source.ts';
import { BUILD_DEFAULTS, buildCatalogImage } from '../../pipeline/oci/image/build.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { folder } from '../fakes/folder.ts';
import { testClient } from '../fakes/host.ts';
import { sampleImage } from '../fakes/image.ts';
import { buildProgram } from '../fakes/program.ts';
import { registry } from '../fakes/registry.ts';

const PROGRAM = resolve('dist/portolan.mjs');
/** Whether this machine gives processes networks of their own. */
const canPart = spawnSync('unshare', ['--net', 'ip', 'link', 'set', 'lo', 'up']).status === 0;
const MIRROR = '127.0.0.1:5005';

beforeAll(() => {
  if (canPart) buildProgram();
});

/** A registry whose catalog grows by a version with each publish. */
async function outside() {
  const directory = folder();
  const { host } = await registry();
  const client = testClient([host]);
  const versions: string[] = [];
  const publish = async (): Promise<void> => {
    const version = `1.0.${versions.length}`;
    const replaces = versions.length > 0 ? `, replaces: a.v1.0.${versions.length - 1}` : '';
    versions.push(version);
    await pushImage(client, parseReference(`${host}/org/a-bundle:v${version}`), {
      image: sampleImage({ layers: [version] }),
    });
    const text = [
      'schema: olm.package\nname: a\ndefaultChannel: stable\n',
      `schema: olm.channel\nname: stable\npackage: a\nentries: [${versions.map((one, i) => `{name: a.v${one}${one === version ? replaces : i > 0 ? `, replaces: a.v1.0.${i - 1}` : ''}}`).join(', ')}]\n`,
      ...versions.map(
        (one) =>
          `schema: olm.bundle\nname: a.v${one}\npackage: a\nimage: ${host}/org/a-bundle:v${one}\nproperties: [{type: olm.package, value: {packageName: a, version: ${one}}}]\n`,
      ),
    ];
    const source = sourceOf({ 'catalog.yaml': text.join('---\n') });
    const { built } = await buildCatalogImage(source, undefined, { ...BUILD_DEFAULTS, scratch: folder() });
    if (!built) throw new Error('nothing was built');
    const { manifestList: root, manifests, blobs } = built.image;
    await pushImage(client, parseReference(`${host}/org/index:v1`), { image: { root, manifests, blobs } });
  };
  writeFileSync(
    join(directory, 'isc.yaml'),
    `kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  operators:\n  - catalog: ${host}/org/index:v1\n    full: true\n`,
  );
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(join(directory, 'mirror.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(join(directory, 'mirror.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  /** To an archive in a directory that is carried across. */
  const archive = async (...words: string[]) => {
    const sync = [
      'mirror',
      'sync',
      'isc.yaml',
      '--to',
      `${MIRROR}/olm`,
      '--sign-key',
      'mirror.key',
      '--insecure',
      host,
    ];
    await promisify(execFile)(process.execPath, [PROGRAM, ...sync, ...words], { cwd: directory });
  };
  return { directory, host, publish, archive };
}

/** Runs commands one after the other beside a registry, in a network of their own. @returns exit codes and outputs */
function inside(directory: string, source: string, commands: readonly (readonly string[])[]) {
  const script = `
    import { spawn, spawnSync } from 'node:child_process';
    import { connect } from 'node:net';
    const program = ${JSON.stringify(PROGRAM)};
    spawnSync('ip', ['link', 'set', 'lo', 'up']);
    const server = spawn(process.execPath, [program, 'registry', 'mirror-registry', '--listen', '${MIRROR}', '--quiet'], { stdio: 'ignore' });
    const answers = (host) => new Promise((done) => {
      const [name, port] = host.split(':');
      const socket = connect(Number(port), name, () => { socket.destroy(); done(true); }).on('error', () => done(false));
    });
    while (!(await answers('${MIRROR}'))) await new Promise((done) => setTimeout(done, 50));
    const ended = [{ exit: (await answers(${JSON.stringify(source)})) ? 1 : 0, out: '', err: '' }];
    for (const words of ${JSON.stringify(commands)}) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8', env: { ...process.env, HOME: process.cwd(), XDG_STATE_HOME: '' } });
      ended.push({ exit: status, out: stdout, err: stderr });
    }
    server.kill();
    process.stdout.write(JSON.stringify(ended));
  `;
  writeFileSync(join(directory, 'inside.mjs'), script);
  const ran = spawnSync('unshare', ['--net', process.execPath, 'inside.mjs'], {
    cwd: directory,
    encoding: 'utf8',
  });
  if (ran.status !== 0) throw new Error(ran.stderr);
  const [apart, ...ended]: { exit: number; out: string; err: string }[] = JSON.parse(ran.stdout);
  // The sources cannot be reached from there.
  expect(apart?.exit).toBe(0);
  return ended;
}

test.runIf(canPart)('archive, load, verify with and without a key, an upgrade, a rollback', async () => {
  const { directory, host, publish, archive } = await outside();
  await publish();
  await archive('--to-archive', 'disk/1');
  await publish();
  await archive('--to-archive', 'disk/2', '--since', 'disk/1');
  const load = (...archives: string[]) => [
    ...['mirror', 'copy', ...archives.flatMap((name) => ['--from-archive', name])],
    ...['--key', 'mirror.pub', '--out', 'loaded', '--insecure', MIRROR],
  ];
  const verify = (...words: string[]) => [
    ...['mirror', 'verify', ...words, '--documents', 'loaded', '--online', '--insecure', MIRROR],
  ];
  const key = ['--key', 'mirror.pub'];
  const [loaded, plain, keyed, named, diff, upgraded, after, rollback] = inside(directory, host, [
    load('disk/1'),
    verify(),
    verify(...key),
    verify(`${host}/org/index:v1`, ...key),
    ['mirror', 'diff', 'loaded', 'disk/2'],
    load('disk/1', 'disk/2'),
    verify(...key),
    load('disk/1'),
  ]);
  expect(loaded, loaded?.err).toMatchObject({
    exit: 0,
    out: expect.stringContaining('oc apply -k loaded\n'),
  });
  expect(plain).toMatchObject({ exit: 0, err: expect.stringContaining('is not checked') });
  for (const one of [keyed, named])
    expect(one).toMatchObject({ exit: 0, out: expect.stringContaining('\nFresh: statement ') });
  expect(diff?.out).toContain('a-bundle:v1.0.1');
  expect(upgraded, upgraded?.err).toMatchObject({ exit: 0 });
  expect(after).toMatchObject({ exit: 0, out: expect.stringContaining('of 2 bundles') });
  expect(rollback).toMatchObject({ exit: 1, err: expect.stringContaining('(mirror/rollback)') });
  // A refused archive leaves the manifests of the newer one.
  expect(readFileSync(join(directory, 'loaded/mapping.txt'), 'utf8')).toContain('a-bundle:v1.0.1');
});
