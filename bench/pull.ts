/**
 * What a node pulls at 260 packages from a registry that is a round trip of 50 ms away: the image, and the image
 * after a bundle was added; by package, and as the one layer that it could have been.
 *
 *     npm run build && node scripts/run.mjs bench/pull.ts [--history BUNDLE] [--keep DIR] [--compression gzip|zstd] [--runs 5]
 *
 * Three layers at a time, as containerd pulls them.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseReference, type Reference } from '../catalog/reference.ts';
import { createRegistryClient } from '../pipeline/oci/registry/client.ts';
import { readImage } from '../pipeline/oci/registry/push.ts';
import { distance } from '../test/fakes/distance.ts';
import { freePort } from '../test/fakes/tools.ts';
import { countedRegistry } from './counted-registry.ts';
import { makeInputs } from './inputs.ts';
import { medianText } from './median-text.ts';
import { timedRun } from './process.ts';
import { repositoryOf } from './repository.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    keep: { type: 'string', default: join(tmpdir(), 'portolan-bench') },
    compression: { type: 'string', default: 'gzip' },
    runs: { type: 'string', default: '5' },
  },
});

const AT_A_TIME = 3;
const ROUND_TRIP = 50;
const COMMITS = ['first', '0'] as const;

const [big] = makeInputs(resolve(values.history), values.keep, new Set(['big']));
const scratch = mkdtempSync(join(tmpdir(), 'portolan-pull-'));
const registry = await countedRegistry();
const far = await freePort();
await distance({ from: far, to: Number(registry.host.split(':')[1]), roundTrip: ROUND_TRIP });
const host = `127.0.0.1:${far}`;
const client = createRegistryClient({ internal: ['127.0.0.0/8'], plainHttp: [host] });
try {
  const { directory } = repositoryOf(big?.directory ?? '', [0.5], scratch);
  for (const commit of COMMITS) {
    await publish(directory, commit);
    await asOneLayer(commit);
  }
  console.log('| image | pull | MB | requests | s |');
  console.log('|---|---|---|---|---|');
  for (const name of ['packages', 'one']) {
    const rows: string[] = [];
    for (let run = 0; run < Number(values.runs); run++) rows.push(await pulls(name));
    console.log(medianText(rows));
  }
} finally {
  client.close();
  await registry.close();
  rmSync(scratch, { recursive: true, force: true });
  process.exit();
}

/** Publishes a commit to the registry, and into a layout, whose layers `asOneLayer` unpacks. */
async function publish(directory: string, commit: string): Promise<void> {
  await timedRun([
    ...[process.execPath, 'dist/portolan.mjs', 'publish', '--repo', directory, '--commit', commit],
    ...['--catalog', 'big', '--to', `${registry.host}/packages:${commit}`, '--insecure', registry.host],
    ...['--also', `oci:${join(scratch, 'layout')}:${commit}`, '--fence', 'none'],
    ...[
      '--compression',
      values.compression,
      '--memory',
      join(scratch, 'memory'),
      '--out',
      join(scratch, 'out'),
    ],
  ]);
}

/** The same files in one layer, put there by crane. */
async function asOneLayer(commit: string): Promise<void> {
  const root = join(scratch, 'root');
  mkdirSync(root, { recursive: true });
  const { root: list } = await readImage(client, parseReference(`${host}/packages:${commit}`));
  const blob = (digest: string): string => join(scratch, 'layout/blobs', digest.replace(':', '/'));
  const read = (digest: string) => JSON.parse(readFileSync(blob(digest), 'utf8'));
  for (const { digest } of read(read(list.digest).manifests[0].digest).layers) {
    execFileSync('tar', ['-xf', blob(digest), '-C', root]);
  }
  const layer = join(scratch, 'layer.tar');
  execFileSync('tar', ['-cf', layer, '-C', root, '.']);
  rmSync(root, { recursive: true });
  const to = `${registry.host}/one:${commit}`;
  await timedRun(['crane', 'append', '--insecure', '--oci-empty-base', '-f', layer, '-t', to]);
}

/** Rows of the table. */
async function pulls(name: string): Promise<string> {
  const rows: string[] = [];
  const known = new Set<string>();
  for (const [commit, what] of [
    [COMMITS[0], 'cold'],
    [COMMITS[1], 'after one bundle'],
  ] as const) {
    registry.take();
    const began = performance.now();
    await pull(parseReference(`${host}/${name}:${commit}`), known);
    const seconds = (performance.now() - began) / 1000;
    const { received, requests } = registry.take();
    rows.push(`| ${name} | ${what} | ${(received / 1e6).toFixed(2)} | ${requests} | ${seconds.toFixed(2)} |`);
  }
  return rows.join('\n');
}

/** Fetches an image as a node does: of one platform, and no layer that it has. */
async function pull(reference: Reference, known: Set<string>): Promise<void> {
  const top = await client.getManifest(reference);
  const { manifests, config, layers } = JSON.parse(Buffer.from(top?.bytes ?? []).toString());
  if (manifests) return pull({ ...reference, kind: 'digest', digest: manifests[0].digest }, known);
  const wanted = [config, ...layers].filter(({ digest }) => !known.has(digest));
  const queue = wanted[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const blob of queue) {
      for await (const _ of client.getBlob(reference, blob));
      known.add(blob.digest);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}
