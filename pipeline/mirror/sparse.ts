/**
 * Manifest lists of which the mirror has some platforms only. Most registries refuse a list that names what they do
 * not have, some do not, and some answer when asked: this asks, before the first image is sent.
 */
import { type Reference, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { digestOf } from '../oci/digest.ts';
import { OCI_INDEX, OCI_MANIFEST } from '../oci/media-types.ts';
import { entriesOf } from '../oci/registry/image.ts';
import type { Descriptor, Manifest, Platform, Registry } from '../ports.ts';
import type { Inspected } from './inspect.ts';

type Prober = Pick<Registry, 'putManifest' | 'deleteManifest'>;

/**
 * Asks each registry that is to get an incomplete list whether it takes one.
 *
 * @throws PipelineError `usage` naming a registry that refuses
 */
export async function checkSparse(images: readonly Inspected[], registry: Prober): Promise<void> {
  // One list for each registry: its answer holds for all.
  const first = new Map<string, { readonly to: Reference; readonly absent: readonly Platform[] }>();
  for (const { job, content } of images) {
    if (!content || job.platforms === undefined || first.has(job.to.registry)) continue;
    const copied = new Set(content.manifests.map(({ digest }) => digest));
    const absent = entriesOf(content.root).filter(({ digest }) => !copied.has(digest));
    if (absent.length > 0)
      first.set(job.to.registry, { to: job.to, absent: absent.flatMap(({ platform }) => platform ?? []) });
  }
  for (const { to, absent } of first.values()) await probeSparseLists(to, absent, registry);
}

/** Asks whether a registry accepts lists whose images are not there, by writing one and deleting it again. */
async function probeSparseLists(
  to: Reference,
  platforms: readonly Platform[],
  registry: Prober,
): Promise<void> {
  const list = listOfNothing(platforms);
  const name = withDigest(to, list.digest);
  try {
    await registry.putManifest(name, list);
  } catch (error) {
    if (!(error instanceof PipelineError) || !isRefusal(error)) return;
    throw new PipelineError(
      'usage',
      `${to.registry} refuses manifest lists without all of their platforms: ${error.message}`,
      {
        cause: error,
        hint: 'copy all platforms, or let the registry take sparse indexes (distribution 3: validation.manifests.indexes.platforms: none; Quay 3.17: FEATURE_SPARSE_INDEX: true)',
      },
    );
  }
  // It has no tag: where it cannot be deleted, the registry's garbage collection takes it.
  await registry.deleteManifest(name).catch(() => false);
}

/** Whether the registry refuses the list itself. Any other error, such as a missing right, shows when images are copied. */
function isRefusal({ code, retryable }: PipelineError): boolean {
  return !retryable && (code === 'bad-answer' || code === 'not-found');
}

/** A manifest list that names an image which exists nowhere, for each platform. */
function listOfNothing(platforms: readonly Platform[]): Manifest {
  const { digest, size } = describeNothing();
  const all: readonly (Platform | undefined)[] = platforms.length === 0 ? [undefined] : platforms;
  const manifests = all.map((platform) => ({
    mediaType: OCI_MANIFEST,
    digest,
    size,
    ...(platform && { platform: { os: platform.os, architecture: platform.architecture } }),
  }));
  const bytes = new TextEncoder().encode(
    JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests }),
  );
  return { mediaType: OCI_INDEX, digest: digestOf(bytes), bytes };
}

/** Digest and size of an image that no registry has. */
function describeNothing(): Pick<Descriptor, 'digest' | 'size'> {
  const bytes = new TextEncoder().encode('no image: portolan asks whether the registry takes sparse indexes');
  return { digest: digestOf(bytes), size: bytes.length };
}
