/** An image into the mirror: blobs, then the manifests of a list, the tag last. */
import { type Reference, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import type { ImageContent } from '../oci/registry/push.ts';
import type { BlobSource, Manifest } from '../ports.ts';
import type { MoveHints } from './blobs.ts';
import type { CopyRun } from './copy-run.ts';
import type { Inspected } from './inspect.ts';

/** Copies one image; its tag is moved last. @throws PipelineError, and then the destination names what it named before */
export async function pushImage({ job, source, content, isNew }: Inspected, run: CopyRun): Promise<void> {
  if (!content) return;
  // A copy within one registry: the blobs can be mounted from the source's repository. A source by another client may be another
  // registry that has the same name, such as one behind a mirror.
  const isSame = source.registry === run.ports.to && source.reference.registry === job.to.registry;
  const beside = isSame ? source.reference.repository : undefined;
  await pushContent(content, job.to, { run, isNew, beside });
}

interface PushContext extends MoveHints {
  readonly run: CopyRun;
}

/** Puts an image under a reference. */
export async function pushContent(content: ImageContent, to: Reference, putting: PushContext): Promise<void> {
  const { run, isNew } = putting;
  const { ports, progress } = run;
  const putBlobs = (how: PushContext): Promise<void> =>
    allOf(content.blobs.map((blob) => putBlob(blob, to, how)));
  const putBlobsAgain = (): Promise<void> =>
    putBlobs({ run, isNew: false, beside: undefined, doubted: true });
  const put = (name: Reference, manifest: Manifest): Promise<void> =>
    run.writes.attempt(to.registry, 'manifest', () => ports.to.putManifest(name, manifest));
  await putBlobs(putting);
  for (const manifest of content.manifests) {
    const name = withDigest(to, manifest.digest);
    if (!isNew && (await ports.to.resolve(name)) !== undefined) continue;
    await putManifestOf(() => put(name, manifest), putBlobsAgain);
    progress.manifestSent(manifest.bytes.length);
  }
  await putManifestOf(() => put(to, content.root), putBlobsAgain);
  progress.manifestSent(content.root.bytes.length);
}

/**
 * Puts a manifest. If the registry then misses a blob, all blobs are put again, and the manifest once more: docker-registry may
 * not see a blob that two requests brought into a repository at the same time, and others collect garbage meanwhile.
 */
async function putManifestOf(put: () => Promise<void>, putBlobsAgain: () => Promise<void>): Promise<void> {
  try {
    await put();
  } catch (error) {
    const isMissing = error instanceof PipelineError && /BLOB_UNKNOWN/.test(error.message);
    if (!isMissing) throw error;
    await putBlobsAgain();
    await put();
  }
}

/** Brings a blob into a repository, and counts it. */
async function putBlob(blob: BlobSource, to: Reference, { run, ...hints }: PushContext): Promise<void> {
  const beside = hints.beside ?? run.ports.holderOf?.(to.registry, blob.digest);
  run.progress.blobDone(blob, await run.mover.move(blob, to, { ...hints, beside }));
}

/** Waits for all, also when one fails: what is on its way is not left behind. */
async function allOf(work: readonly Promise<void>[]): Promise<void> {
  for (const end of await Promise.allSettled(work)) if (end.status === 'rejected') throw end.reason;
}
