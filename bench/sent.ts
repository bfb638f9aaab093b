/**
 * What a publish sends after a bundle was added, for every one of 260 packages: the blobs that the image before does
 * not have, and the manifests. Built in this process, sent nowhere; the figures are those that `bench/publish.ts`
 * measures at a registry, for all packages in minutes.
 *
 *     node scripts/run.mjs bench/sent.ts [--history BUNDLE] [--keep DIR] [--compression gzip,zstd] [--packages 260]
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { CatalogSource } from '../catalog/source.ts';
import { BUILD_DEFAULTS, type BuiltCatalog, buildCatalogImage } from '../pipeline/oci/image/build.ts';
import type { Store } from '../pipeline/oci/image/build-cache.ts';
import type { Codec } from '../pipeline/oci/image/compress.ts';
import { makeInputs } from './inputs.ts';
import { type Addition, additions } from './one-bundle.ts';

const { values } = parseArgs({
  options: {
    history: { type: 'string', default: '../shared/data/pr-history.bundle' },
    keep: { type: 'string', default: join(tmpdir(), 'portolan-bench') },
    compression: { type: 'string', default: 'gzip,zstd' },
    packages: { type: 'string', default: '260' },
  },
});

const identities = new Map<string, string>();
const [big] = makeInputs(resolve(values.history), values.keep, new Set(['big']));
const root = big?.directory ?? '';
const scratch = mkdtempSync(join(tmpdir(), 'portolan-sent-'));
try {
  const count = Number(values.packages);
  const added = additions(
    root,
    Array.from({ length: count }, (_, i) => (i + 0.5) / count),
  );
  console.log('| compression | packages | median MB | mean | 95 of 100 | most | layers | room changed |');
  console.log('|---|---|---|---|---|---|---|---|');
  for (const codec of values.compression.split(',') as Codec[]) await measure(codec, added);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Builds the image of each change beside that of the first, and prints what a publish would send of it. */
async function measure(codec: Codec, added: readonly Addition[]): Promise<void> {
  const files = new Map(filesBelow(root).map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const kept = new Map<string, Uint8Array>();
  const first = await built(files, { codec, kept, name: 'first' });
  const held = new Map(first.image.blobs.map((blob) => [blob.digest, blob]));
  const sent: number[] = [];
  let changed = 0;
  for (const { path, text, package: name } of added) {
    const after = await built(new Map([...files, [relative(root, path), text]]), {
      codec,
      kept: new Map(kept),
      name,
      before: first,
    });
    const fresh = after.image.blobs.filter(({ digest }) => !held.has(digest));
    const manifests = [after.image.manifestList, ...after.image.manifests];
    sent.push(
      fresh.reduce((sum, { size }) => sum + size, 0) +
        manifests.reduce((sum, { bytes }) => sum + bytes.length, 0),
    );
    if (after.replannedRoom) changed++;
    rmSync(join(scratch, name), { recursive: true });
  }
  sent.sort((a, b) => a - b);
  const at = (part: number): number => sent[Math.min(sent.length - 1, Math.floor(part * sent.length))] ?? 0;
  const mean = sent.reduce((sum, bytes) => sum + bytes, 0) / sent.length;
  const cells = [at(0.5), mean, at(0.95), at(1)].map((bytes) => (bytes / 1e6).toFixed(2));
  console.log(`| ${codec} | ${sent.length} | ${cells.join(' | ')} | ${first.layers} | ${changed} |`);
}

/** The paths of all files below a folder, as seen from it. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

/** The image of files. What the builds before kept is in `kept`. */
async function built(
  files: ReadonlyMap<string, string>,
  options: {
    readonly codec: Codec;
    readonly kept: Map<string, Uint8Array>;
    readonly name: string;
    readonly before?: BuiltCatalog;
  },
): Promise<BuiltCatalog> {
  const { codec, kept, name, before } = options;
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  const store: Store = {
    get: async (key) => kept.get(key),
    put: async (key, bytes) => void kept.set(key, bytes),
  };
  const outcome = await buildCatalogImage(sourceOf(files), undefined, {
    ...BUILD_DEFAULTS,
    codec,
    scratch: folder,
    memory: { store, key: codec },
    earlier: before && (({ digest }) => blobOf(before, digest)),
  });
  if (!outcome.built) throw new Error(`nothing was built: ${outcome.findings[0]?.message}`);
  return outcome.built;
}

/** The bytes of a blob of an image that was built before. */
function blobOf({ image }: BuiltCatalog, digest: string): AsyncIterable<Uint8Array> {
  const blob = image.blobs.find((one) => one.digest === digest);
  if (!blob) throw new Error(`the image before has no ${digest}`);
  return blob.open(0);
}

/** The files with identities, as git has them. */
function sourceOf(files: ReadonlyMap<string, string>): CatalogSource {
  const all = [...files].map(([path, text]) => ({
    path,
    identity: identities.get(text) ?? identify(text),
    read: () => Buffer.from(text),
  }));
  return { files: async () => all };
}

/** The identity of a text, remembered for the next builds. */
function identify(text: string): string {
  const identity = createHash('sha256').update(text).digest('hex');
  identities.set(text, identity);
  return identity;
}
