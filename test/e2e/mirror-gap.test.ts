/**
 * The way across an air gap as docs/first-mirror.md has it: each of its commands is typed into a shell, with the built
 * program, and prints what the page shows. Both sides have a network of their own with a registry in it, and nothing but
 * a directory that is carried from one to the other.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { loadAll } from 'js-yaml';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { parseReference } from '../../catalog/reference.ts';
import { sourceOf } from '../../catalog/source.ts';
import { BUILD_DEFAULTS, buildCatalogImage } from '../../pipeline/oci/image/build.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { selfSigned } from '../fakes/certificate.ts';
import { judgeOf } from '../fakes/crd.ts';
import { folder } from '../fakes/folder.ts';
import { testClient } from '../fakes/host.ts';
import { sampleImage } from '../fakes/image.ts';
import { buildProgram } from '../fakes/program.ts';
import { isOnPath } from '../fakes/tools.ts';

const PROGRAM = resolve('dist/portolan.mjs');
const PAGE = 'docs/first-mirror.md';
const CRDS = 'test/catalog/mirror/crds';
/** Whether this machine gives processes networks and mounts of their own. */
const canPart =
  spawnSync('unshare', ['--net', '--mount', 'ip', 'link', 'set', 'lo', 'up']).status === 0 &&
  isOnPath('kubectl') &&
  isOnPath('openssl');

beforeAll(() => {
  if (canPart) buildProgram();
});

/** What a side runs: its own hosts, a registry, and then each command that it is sent. */
const SIDE = `
  import { spawn, spawnSync } from 'node:child_process';
  import { connect } from 'node:net';
  import { createInterface } from 'node:readline';
  const { program, host, address, registry } = JSON.parse(process.argv[2]);
  const run = (file, ...words) => {
    const { status, stderr } = spawnSync(file, words, { encoding: 'utf8' });
    if (status !== 0) throw new Error(file + ' ' + words.join(' ') + ': ' + stderr);
  };
  run('mount', '--bind', 'hosts', '/etc/hosts');
  run('ip', 'link', 'set', 'lo', 'up');
  run('ip', 'addr', 'add', address + '/32', 'dev', 'lo');
  const server = spawn(process.execPath, [program, 'registry', registry, '--listen', address + ':443', '--open-to-all', '--quiet',
    '--tls-cert', 'registry.crt', '--tls-key', 'registry.key'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const answers = (name) => new Promise((done) => {
    const socket = connect(443, name, () => { socket.destroy(); done(true); }).on('error', () => done(false));
  });
  while (!(await answers(host))) await new Promise((done) => setTimeout(done, 50));
  process.stdout.write(JSON.stringify({ ready: true }) + '\\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const { reaches, command } = JSON.parse(line);
    if (reaches) process.stdout.write(JSON.stringify({ exit: (await answers(reaches)) ? 0 : 1, out: '' }) + '\\n');
    else {
      const { status, stdout } = spawnSync('sh', ['-c', command + ' 2>&1'], { encoding: 'utf8', cwd: 'work' });
      process.stdout.write(JSON.stringify({ exit: status, out: stdout }) + '\\n');
    }
  }
  server.kill();
`;

interface Ran {
  readonly exit: number;
  readonly out: string;
}

interface Side {
  /** Where its commands run. */
  readonly directory: string;
  readonly type: (command: string) => Promise<Ran>;
  readonly reaches: (address: string) => Promise<boolean>;
}

/** A side whose registry has a name; it is trusted there as a registry with a public certificate is. */
async function side(host: string, address: string, registry: string): Promise<Side> {
  const home = folder();
  const { key, cert } = selfSigned(host);
  const wrapper = `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`;
  for (const [name, text] of Object.entries({
    hosts: `127.0.0.1 localhost\n${address} ${host}\n`,
    'registry.key': key,
    'registry.crt': cert,
    'side.mjs': SIDE,
    'bin/portolan': wrapper,
    // Only builds: the test sends what it prints through the CRDs.
    'bin/oc': '#!/bin/sh\nexec kubectl kustomize "$3"\n',
  })) {
    mkdirSync(join(home, 'bin'), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  for (const name of ['portolan', 'oc']) chmodSync(join(home, 'bin', name), 0o755);
  const directory = join(home, 'work');
  mkdirSync(directory);
  const options = JSON.stringify({ program: PROGRAM, host, address, registry });
  const child: ChildProcess = spawn('unshare', ['--net', '--mount', process.execPath, 'side.mjs', options], {
    cwd: home,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: `${join(home, 'bin')}:${process.env['PATH']}`,
      HOME: home,
      NODE_EXTRA_CA_CERTS: join(home, 'registry.crt'),
      TZ: 'UTC',
    },
  });
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('a side has no pipes');
  onTestFinished(async () => {
    stdin.end();
    await new Promise((done) => child.once('exit', done));
  });
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Ran> => JSON.parse((await lines.next()).value ?? '{}');
  await next();
  const ask = (question: object): Promise<Ran> => {
    stdin.write(`${JSON.stringify(question)}\n`);
    return next();
  };
  return {
    directory,
    type: (command) => ask({ command }),
    reaches: async (to) => (await ask({ reaches: to })).exit === 0,
  };
}

/** A registry's directory with an operator: its images, and a catalog with some of its versions. */
async function publish(directory: string, versions: readonly string[]): Promise<void> {
  const server = spawn(process.execPath, [
    PROGRAM,
    'registry',
    directory,
    '--listen',
    '127.0.0.1:5013',
    '--quiet',
  ]);
  try {
    while (!(await answers(5013))) await new Promise((done) => setTimeout(done, 50));
    const client = testClient(['127.0.0.1:5013']);
    const entries = versions.map(
      (one, i) =>
        `{name: harbour-operator.v${one}${i > 0 ? `, replaces: harbour-operator.v${versions[i - 1]}` : ''}}`,
    );
    const blobs = [
      'schema: olm.package\nname: harbour-operator\ndefaultChannel: stable\n',
      `schema: olm.channel\npackage: harbour-operator\nname: stable\nentries: [${entries.join(', ')}]\n`,
    ];
    for (const version of versions) {
      const [bundle, operator] = await Promise.all(
        ['harbour-bundle', 'harbour'].map(async (name) => {
          const image = sampleImage({ layers: [`${name} ${version}`] });
          await pushImage(client, parseReference(`127.0.0.1:5013/acme/${name}:v${version}`), { image });
          return `quay.io/acme/${name}@${image.root.digest}`;
        }),
      );
      const name = `harbour-operator.v${version}`;
      blobs.push(
        JSON.stringify({
          schema: 'olm.bundle',
          package: 'harbour-operator',
          name,
          image: bundle,
          properties: [
            { type: 'olm.package', value: { packageName: 'harbour-operator', version } },
            { type: 'olm.bundle.object', value: { data: csv(name, operator ?? '').toString('base64') } },
          ],
          relatedImages: [{ name: 'operator', image: operator }],
        }),
      );
    }
    const source = sourceOf({ 'catalog.yaml': blobs.join('\n---\n') });
    const { built } = await buildCatalogImage(source, undefined, { ...BUILD_DEFAULTS, scratch: folder() });
    if (!built) throw new Error('nothing was built');
    const { manifestList: root, manifests, blobs: parts } = built.image;
    await pushImage(client, parseReference('127.0.0.1:5013/acme/catalog:v4.20'), {
      image: { root, manifests, blobs: parts },
    });
  } finally {
    server.kill();
    await new Promise((done) => server.once('exit', done));
  }
}

function csv(name: string, image: string): Buffer {
  const pod = { containers: [{ name: 'operator', image }] };
  const deployments = [{ name: 'operator', spec: { template: { spec: pod } } }];
  const object = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name },
    spec: { install: { strategy: 'deployment', spec: { deployments } } },
  };
  return Buffer.from(JSON.stringify(object));
}

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      done(true);
    }).on('error', () => done(false));
  });
}

/** A command of the page, on which side it is typed, and what the page shows below it. */
interface Typed {
  readonly place: 'connected' | 'disconnected';
  readonly command: string;
  readonly shown: string;
}

function typedOnPage(): { config: string; commands: Typed[] } {
  const page = readFileSync(PAGE, 'utf8');
  const [, config = ''] = /```yaml\n(kind: ImageSetConfiguration\n[^`]*)```/.exec(page) ?? [];
  const blocks = [...page.matchAll(/<!-- typed: (connected|disconnected) -->\n```text\n([^`]*)```/g)];
  const commands = blocks.flatMap(([, place, text = '']) =>
    text
      .split(/^\$ /m)
      .slice(1)
      .map((one): Typed => {
        const [command = '', ...lines] = one.split('\n');
        return {
          place: place === 'connected' ? 'connected' : 'disconnected',
          command,
          shown: lines.join('\n'),
        };
      }),
  );
  return { config, commands };
}

/** What differs from run to run: digests, sizes and times. */
function plainText(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{12,64}/g, 'DIGEST')
    .replaceAll(/\d[\d.]* [kM]?B/g, 'SIZE')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME')
    .replaceAll(/\b\d{10}\b/g, 'NUMBER')
    .replaceAll(/\d+ requests/g, 'N requests')
    .trimEnd();
}

/** What oc says of objects that it applies to one cluster; each of them must be valid against its CRD. */
function cluster(): (yaml: string) => string {
  const judges = new Map(
    readdirSync(CRDS).flatMap((name) => {
      const { kinds, judge } = judgeOf(join(CRDS, name));
      return kinds.map((kind) => [kind, judge] as const);
    }),
  );
  const known = new Map([['operatorhub.config.openshift.io/cluster', '']]);
  return (yaml) => {
    const objects = loadAll(yaml) as { kind: string; apiVersion: string; metadata: { name: string } }[];
    const lines = objects.map((object) => {
      const { apiVersion, kind, metadata } = object;
      const judge = judges.get(`${apiVersion} ${kind}`);
      if (!judge) throw new Error(`no CRD of ${apiVersion} ${kind}`);
      expect(judge(object), `${kind} ${metadata.name}`).toEqual([]);
      const name = `${kind.toLowerCase()}.${apiVersion.replace(/\/.*/, '')}/${metadata.name}`;
      const before = known.get(name);
      const now = JSON.stringify(object);
      known.set(name, now);
      return `${name} ${before === undefined ? 'created' : before === now ? 'unchanged' : 'configured'}`;
    });
    return lines.join('\n');
  };
}

test.runIf(canPart)(
  'the page as typed: each command prints what is shown',
  async () => {
    const { config, commands } = typedOnPage();
    expect(commands.length).toBeGreaterThan(12);
    const released = folder();
    await publish(released, ['1.9.0', '1.10.0', '1.11.0']);
    const connected = await side('quay.io', '34.1.1.1', released);
    const disconnected = await side('mirror.example.com', '34.1.1.2', folder());
    expect(await disconnected.reaches('34.1.1.1')).toBe(false);
    expect(await connected.reaches('34.1.1.2')).toBe(false);
    writeFileSync(join(connected.directory, 'imageset-config.yaml'), config);
    const seen: string[] = [];
    const apply = cluster();
    for (const { place, command } of commands) {
      const { directory, type } = place === 'connected' ? connected : disconnected;
      // What is carried: the disks and the public key.
      if (place === 'disconnected')
        for (const name of ['disk', 'mirror.pub'])
          cpSync(join(connected.directory, name), join(directory, name), { recursive: true });
      const { out, exit } = await type(command);
      const shown = command.startsWith('oc apply')
        ? apply(out)
        : out.replaceAll(`${directory}/`, '').replaceAll(dirname(directory), '~');
      seen.push(`$ ${command}\n${shown.trimEnd()}${exit === 0 ? '' : `\n(exit code ${exit})`}`);
    }
    if (process.env['SHOW']) writeFileSync(process.env['SHOW'], seen.join('\n'));
    expect(seen.map(plainText)).toEqual(
      commands.map(({ command, shown }) => plainText(`$ ${command}\n${shown}`)),
    );
  },
  300_000,
);
