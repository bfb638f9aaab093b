/**
 * How long it takes to find the digests of many tags over TLS, with tokens, from far away; beside
 * `crane digest` under `xargs -P16`, when crane is on the PATH and the last word is not `alone`.
 *
 *     node scripts/run.mjs test/bench/registry.ts [TAGS] [REPOSITORIES] [MILLISECONDS] [alone]
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reference } from '../../catalog/reference.ts';
import { lookUp } from '../../pipeline/catalogs/references/look-up.ts';
import { createRegistryClient } from '../../pipeline/oci/registry/client.ts';
import { startRegistry } from '../../pipeline/oci/registry/embedded/server.ts';
import { openLayout } from '../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../pipeline/oci/registry/layout/registry.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import { selfSigned } from '../fakes/certificate.ts';
import { distance } from '../fakes/distance.ts';
import { sampleImage } from '../fakes/image.ts';
import { freePort, isOnPath } from '../fakes/tools.ts';

const [tags = 2000, repositories = 400, roundTrip = 50] = process.argv.slice(2).map(Number);
if (process.send === undefined) await measure();
else await serve();

interface Ready {
  readonly host: string;
  readonly cert: string;
}

/** The child's part: a registry and the distance to it. */
async function serve(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const image = sampleImage();
  const layout = await openLayout(directory, { create: true });
  await pushImage(layoutRegistry(layout), reference('', 0), { image });
  const { mediaType, digest, bytes } = image.root;
  const manifests = Array.from({ length: tags }, (_, i) => {
    const { repository, tag } = named(i);
    return {
      mediaType,
      digest,
      size: bytes.length,
      annotations: { 'org.opencontainers.image.ref.name': `${repository}:${tag}` },
    };
  });
  writeFileSync(join(directory, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }));
  const tls = selfSigned('127.0.0.1');
  const far = await freePort();
  const access = { kind: 'token', accounts: {}, anonymousPull: true } as const;
  const { host } = await startRegistry({
    directory,
    tls,
    access,
    url: `https://127.0.0.1:${far}`,
    readOnly: true,
  });
  await distance({ from: far, to: Number(host.split(':')[1]), roundTrip });
  const ready: Ready = { host: `127.0.0.1:${far}`, cert: tls.cert };
  process.send?.(ready);
  process.on('disconnect', () => process.exit());
}

function named(i: number): { repository: string; tag: string } {
  return { repository: `org/app-${i % repositories}`, tag: `v${Math.floor(i / repositories)}` };
}

function reference(host: string, i: number): Reference {
  return { kind: 'tag', registry: host, ...named(i) };
}

async function measure(): Promise<void> {
  const child = spawn(process.execPath, ['scripts/run.mjs', ...process.argv.slice(1)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { host, cert } = await new Promise<Ready>((done) =>
    child.once('message', (ready) => done(ready as Ready)),
  );
  try {
    await ours(host, cert);
    if (isOnPath('crane') && !process.argv.includes('alone')) cranes(host, cert);
  } finally {
    child.disconnect();
  }
}

async function ours(host: string, cert: string): Promise<void> {
  const client = createRegistryClient({ internal: ['127.0.0.0/8'], authorities: [cert] });
  const before = process.cpuUsage();
  const began = performance.now();
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 50);
  const wanted = Array.from({ length: tags }, (_, i) => reference(host, i));
  const lookups = await lookUp(wanted, { registry: client });
  clearInterval(watch);
  const found = [...lookups.values()].filter(({ kind }) => kind === 'found').length;
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(before);
  const { requests = 0 } = client.traffic().get(host) ?? {};
  client.close();
  console.log(
    `ours: ${found} of ${tags} in ${seconds.toFixed(2)} s, ${((user + system) / 1e6).toFixed(2)} s CPU, ` +
      `${(requests / tags).toFixed(3)} requests an image, ${Math.round(peak / 2 ** 20)} MiB`,
  );
}

function cranes(host: string, cert: string): void {
  const directory = mkdtempSync(join(tmpdir(), 'portolan-bench-'));
  try {
    const ca = join(directory, 'ca.pem');
    writeFileSync(ca, cert);
    const names = Array.from({ length: tags }, (_, i) => {
      const { repository, tag } = named(i);
      return `${host}/${repository}:${tag}`;
    });
    const began = performance.now();
    const { stdout } = spawnSync('xargs', ['-P16', '-n1', 'crane', 'digest'], {
      input: names.join('\n'),
      env: { ...process.env, SSL_CERT_FILE: ca, HOME: directory },
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    });
    const seconds = (performance.now() - began) / 1000;
    console.log(`crane digest, xargs -P16: ${stdout.trim().split('\n').length} in ${seconds.toFixed(2)} s`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
