/**
 * The plan of a mirror as an artifact about its index image: whoever has the image's digest
 * finds the files again, with any client that knows referrers (`oras pull` too).
 *
 * @see https://github.com/opencontainers/image-spec/blob/main/manifest.md#guidelines-for-artifact-usage
 */
import { formatReference, type Reference, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { digestOf } from '../oci/digest.ts';
import { OCI_MANIFEST } from '../oci/media-types.ts';
import { descriptorOf, type ImageManifest, parseManifest } from '../oci/registry/image.ts';
import type { ImageContent } from '../oci/registry/push.ts';
import { allOf } from '../oci/registry/stream.ts';
import type { BlobSource, Descriptor, Manifest, Registry } from '../ports.ts';

/** The type of the artifact: files of a mirror plan, one a layer, named by its title. */
export const PLAN_TYPE = 'application/vnd.dev.portolan.mirror-plan.v1';
/** The address of the plan's mirror. */
const MIRROR = 'dev.portolan.mirror';
/** The index image that the plan is for, as clusters call it: catalogs with the same content are one image under two tags. */
const IMAGE = 'dev.portolan.image';

/** The artifact that holds the files; the same files make the same bytes. */
export function planArtifact(subject: Manifest, { mirror, image, files }: AttachedPlan): ImageContent {
  const annotations = { [MIRROR]: mirror, ...(image === undefined ? {} : { [IMAGE]: image }) };
  return filesArtifact(subject, { type: PLAN_TYPE, annotations, files });
}

/** A plan as an artifact holds it. */
export interface AttachedPlan {
  /** `REGISTRY[/PATH]`. */
  readonly mirror: string;
  /** The index image by its tag; plans of earlier versions do not say it. */
  readonly image?: string | undefined;
  readonly files: ReadonlyMap<string, string>;
}

/** Bytes of all files at most. */
const LARGEST = 64 * 1024 * 1024;

/**
 * The plan that is attached to an index image; undefined when there is none.
 *
 * @param image by a tag, also one beside its digest, it selects among plans for several tags
 * @param names files that a plan may have: others are not written
 * @throws PipelineError `usage` when it is not clear which, `corrupt`, `too-large`
 */
export async function findPlan(
  registry: Registry,
  image: Reference,
  names: readonly string[],
): Promise<AttachedPlan | undefined> {
  const digest = image.kind === 'digest' ? image.digest : (await registry.resolve(image))?.digest;
  if (digest === undefined) return undefined;
  const plans = await plansAt(registry, image, digest);
  // Where one plan says which tag it is for, those of earlier versions are older.
  const saying = plans.filter((plan) => plan.image !== undefined);
  const known = saying.length > 0 ? saying : plans;
  const { registry: host, repository, tag } = image;
  const tagged = tag && formatReference({ kind: 'tag', registry: host, repository, tag });
  const asked = known.filter((plan) => plan.image === tagged);
  // Asked for by its digest alone, or by another tag of it, an image has the only plan that is attached.
  const [only, ...more] = asked.length > 0 ? asked : known;
  if (!only) return undefined;
  if (more.length > 0) throw severalPlans([only, ...more]);
  const files = await filesOf(only.manifest, { registry, image, names });
  return { mirror: only.mirror, image: only.image, files };
}

interface FoundPlan extends Pick<AttachedPlan, 'mirror' | 'image'> {
  readonly manifest: ImageManifest;
}

/** The plans that are attached to a digest, one for each mirror and tag. */
async function plansAt(registry: Registry, image: Reference, digest: string): Promise<FoundPlan[]> {
  const plans = new Map<string, FoundPlan>();
  for (const one of await registry.listReferrers(image, digest, PLAN_TYPE)) {
    const manifest = await registry.getManifest(withDigest(image, one.digest));
    const parsed = manifest && parseManifest(manifest);
    // The list is the registry's word; the manifest itself says which image it is about.
    if (parsed?.kind !== 'image' || parsed.subject?.digest !== digest) continue;
    const { [MIRROR]: mirror = '', [IMAGE]: tagged } = parsed.annotations ?? {};
    plans.set(JSON.stringify([mirror, tagged]), { mirror, image: tagged, manifest: parsed });
  }
  return [...plans.values()];
}

/** The error where it must be said which of several plans is meant: by the mirror, or by the tag of the image. */
function severalPlans(plans: readonly FoundPlan[]): PipelineError {
  const mirrors = [...new Set(plans.map(({ mirror }) => mirror))].sort();
  if (mirrors.length > 1)
    return new PipelineError('usage', `plans for ${mirrors.length} mirrors are attached to the image`, {
      hint: `select one: ${mirrors.map((one) => `--to ${one}`).join(', ')}`,
    });
  const tags = plans.flatMap((plan) => plan.image ?? []).sort();
  return new PipelineError('usage', `plans for ${tags.length} tags are attached to the image`, {
    hint: `name the image by one of them: ${tags.join(', ')}`,
  });
}

/** The files of an attached plan. Only files with the given names are read: a title could be any path. */
async function filesOf(
  { layers }: ImageManifest,
  { registry, image, names }: { registry: Registry; image: Reference; names: readonly string[] },
): Promise<Map<string, string>> {
  // No layer gets longer than it says here: the client ends a blob that does.
  const size = layers.reduce((sum, layer) => sum + layer.size, 0);
  if (size > LARGEST) throw new PipelineError('too-large', `the attached plan has ${size} bytes`);
  const titled = layers.flatMap((layer): [string, Descriptor][] => {
    const title = layer.annotations?.[TITLE];
    return title !== undefined && names.includes(title) ? [[title, layer]] : [];
  });
  const files = new Map<string, string>();
  for (const [name, layer] of titled) {
    const bytes = await allOf(registry.getBlob(image, layer));
    files.set(name, new TextDecoder().decode(bytes));
  }
  return files;
}

// Files as an artifact about an image, one a layer, named by its title.
//
// @see https://github.com/opencontainers/image-spec/blob/main/manifest.md#guidelines-for-artifact-usage

interface ArtifactFiles {
  /** The type of the artifact. */
  readonly type: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Texts by name. */
  readonly files: ReadonlyMap<string, string>;
}

/** The annotation that names a layer's file. */
const TITLE = 'org.opencontainers.image.title';
/** Media type of the configuration that an artifact does not need: `{}`. */
const EMPTY = 'application/vnd.oci.empty.v1+json';

/** The artifact about an image; the same files make the same bytes. */
export function filesArtifact(subject: Manifest, { type, annotations, files }: ArtifactFiles): ImageContent {
  const config = blobOf(new TextEncoder().encode('{}'));
  const layers = [...files].map(([name, text]) => ({ name, blob: blobOf(new TextEncoder().encode(text)) }));
  const json = {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    artifactType: type,
    config: { mediaType: EMPTY, digest: config.digest, size: config.size },
    layers: layers.map(({ name, blob: { digest, size } }) => ({
      mediaType: mediaTypeOf(name),
      digest,
      size,
      annotations: { [TITLE]: name },
    })),
    subject: descriptorOf(subject),
    ...(annotations ? { annotations } : {}),
  };
  const bytes = new TextEncoder().encode(JSON.stringify(json));
  const root: Manifest = { mediaType: OCI_MANIFEST, digest: digestOf(bytes), bytes };
  return { root, manifests: [], blobs: [config, ...layers.map(({ blob }) => blob)] };
}

/** Bytes as a blob of an image; an upload that was cut off goes on from any position. */
function blobOf(bytes: Uint8Array): BlobSource {
  const open = async function* (from: number): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(from);
  };
  return { digest: digestOf(bytes), size: bytes.length, open };
}

/** Media types by the ending of a file's name. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  html: 'text/html',
};

/** The media type of a file by its name; plain text for an ending that is not known. */
function mediaTypeOf(name: string): string {
  return MEDIA_TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain';
}
