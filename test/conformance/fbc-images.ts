// The images that recorded command lines name, in a registry of our own.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reference } from '../../catalog/reference.ts';
import { CONFIGS_LABEL } from '../../pipeline/oci/image/base.ts';
import { createRegistryClient } from '../../pipeline/oci/registry/client.ts';
import { startRegistry } from '../../pipeline/oci/registry/embedded/server.ts';
import { pushImage } from '../../pipeline/oci/registry/push.ts';
import type { Registry, Repository } from '../../pipeline/ports.ts';
import { labelledImage } from '../fakes/labelled-image.ts';

export interface Images {
  /** A registry in which the images have the names and digests under which they were recorded. */
  readonly registry: Registry;
  readonly close: () => Promise<void>;
}

type Labels = Readonly<Record<string, string>>;
type Files = Readonly<Record<string, string>>;

/**
 * @param folder with `_bundles`
 * @param catalog the stream of blobs that `index:v1` holds
 */
export async function serveImages(folder: string, catalog: string): Promise<Images> {
  const directory = mkdtempSync(join(tmpdir(), 'fbc-images-'));
  const server = await startRegistry({ directory, host: '127.0.0.1', port: 0 });
  const client = createRegistryClient({ plainHttp: [server.host], internal: [server.host] });
  const digests = new Map<string, string>();
  const at = (repository: string, tag: string): Reference => ({
    kind: 'tag',
    registry: server.host,
    repository,
    tag,
  });
  const push = async (name: string, labels: Labels, files: Files): Promise<string> => {
    const [repository = '', tag = ''] = name.split(':');
    const image = await labelledImage(labels, files);
    await pushImage(client, at(repository, tag), { image });
    return image.root.digest;
  };
  for (const { name, digest, labels, files } of bundlesIn(folder)) {
    digests.set(digest, await push(name, labels, files));
  }
  await push('ns/index:v1', { [CONFIGS_LABEL]: '/configs' }, { 'configs/catalog.json': catalog });
  await push('ns/nolabels:v1', {}, { 'a.txt': 'a' });
  await push('ns/otherlabels:v1', { a: '1', b: '2' }, { 'a.txt': 'a' });
  await push(
    'ns/sqlite:v1',
    { 'operators.operatorframework.io.index.database.v1': '/database/index.db' },
    {},
  );
  return {
    registry: renamed(client, server.host, digests),
    close: async () => {
      client.close();
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface RecordedBundle {
  readonly name: string;
  readonly digest: string;
  readonly labels: Labels;
  readonly files: Files;
}

function* bundlesIn(folder: string): Generator<RecordedBundle> {
  const index = join(folder, 'index.json');
  if (!existsSync(index)) return;
  const recorded = JSON.parse(readFileSync(index, 'utf8')) as Record<
    string,
    { readonly rendered: string; readonly digestRef?: string }
  >;
  for (const [reference, { rendered, digestRef }] of Object.entries(recorded)) {
    if (digestRef === undefined) continue;
    const bundle = JSON.parse(readFileSync(join(folder, rendered), 'utf8')) as {
      readonly package: string;
      readonly properties: readonly { readonly type: string; readonly value: { readonly data?: string } }[];
    };
    const objects = bundle.properties.filter(({ type }) => type === 'olm.bundle.object');
    const label = 'operators.operatorframework.io.bundle.package.v1';
    const files = Object.fromEntries(
      objects.map(({ value }, i) => [
        `manifests/${String(i).padStart(2, '0')}.json`,
        Buffer.from(value.data ?? '', 'base64').toString(),
      ]),
    );
    yield {
      name: reference.slice(reference.indexOf('/') + 1),
      digest: digestRef.slice(digestRef.indexOf('@') + 1),
      labels: { [label]: bundle.package },
      files: {
        ...files,
        'metadata/annotations.yaml': `annotations:\n  ${label}: ${bundle.package}\n`,
      },
    };
  }
}

/** Every host is ours, and a recorded digest is that of the image made anew. */
function renamed(client: Registry, host: string, digests: ReadonlyMap<string, string>): Registry {
  const there = (reference: Reference): Reference =>
    reference.kind === 'digest'
      ? { ...reference, registry: host, digest: digests.get(reference.digest) ?? reference.digest }
      : { ...reference, registry: host };
  const within = (repository: Repository): Repository => ({
    registry: host,
    repository: repository.repository,
  });
  return {
    ...client,
    resolve: (reference) => client.resolve(there(reference)),
    getManifest: (reference) => client.getManifest(there(reference)),
    getBlob: (from, blob) => client.getBlob(within(from), blob),
  };
}
