/** The base image of an index image, read from wherever it is. */
import { nodeConfig } from '../../catalog/mirror/node/node.ts';
import { shellWord } from '../../catalog/names.ts';
import { type DigestReference, formatReference, withDigest } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import { type BaseImage, readBase } from '../oci/image/base.ts';
import { isManifestType } from '../oci/registry/image.ts';
import { formatLocation, type ImageLocation } from '../oci/registry/image-location.ts';
import { readThroughMirrors } from '../oci/registry/mirrored.ts';
import { openSource, type Source } from '../oci/registry/open.ts';
import type { Trust } from '../oci/signatures/signatures.ts';
import { isSigned, verifySignatures, whyUnsigned } from '../oci/signatures/verify.ts';
import type { Policy } from '../policy/policy.ts';
import type { SignatureDemands } from '../policy/registries.ts';
import type { Descriptor, Registry } from '../ports.ts';

export interface OpenBase {
  readonly image: BaseImage;
  /** The place and the digest that it named. */
  readonly name: string;
  /** The registry with its layers. */
  readonly source: Source;
}

/** Bytes of a configuration at most. */
const LARGEST_CONFIG = 4 * 1024 * 1024;

/** Where base images are read under a policy: through `registries.mirrors`, as other images. */
export function basesUnder({ registries: { mirrors } }: Policy, registry: Registry): Registry {
  if (mirrors.length === 0) return registry;
  return readThroughMirrors(registry, {
    config: nodeConfig({ digest: mirrors, tag: mirrors }),
    mirrors: registry,
  });
}

/**
 * Opens the base image.
 *
 * @param client for references
 * @param signed whose signatures are demanded; nobody's when left out
 * @throws PipelineError `not-found`, `not-allowed` without the signature, and as {@link readBase}
 */
export async function openBase(
  client: Registry,
  place: ImageLocation,
  signed?: SignatureDemands,
): Promise<OpenBase> {
  const source = await openSource(place, client);
  const { registry, reference } = source;
  const manifest = await registry.getManifest(reference);
  if (!manifest) throw new PipelineError('not-found', `base image ${formatLocation(place)} not found`);
  const trust = place.kind === 'registry' ? signed?.(place.reference) : undefined;
  if (trust) await refuseUnsigned(registry, withDigest(reference, manifest.digest), trust);
  const image = await readBase(
    manifest,
    (descriptor) => contentAt(source, descriptor),
    formatLocation(place),
  );
  return { image, name: `${formatLocation(place)} (${image.digest})`, source };
}

/**
 * Throws unless the base image has the signature that the policy demands: whoever moves its tag would decide
 * what runs.
 */
async function refuseUnsigned(registry: Registry, image: DigestReference, trust: Trust): Promise<void> {
  const report = await verifySignatures(registry, image, trust);
  if (isSigned(report)) return;
  const name = formatReference(image);
  throw new PipelineError(
    'not-allowed',
    `the base image ${name} lacks the signature that the policy requires: ${whyUnsigned(report)}`,
    {
      hint: `see its signatures with portolan verify ${shellWord(name)} --key FILE, or with --identity and --issuer (policy: registries.signatures)`,
    },
  );
}

/** The bytes of a manifest or configuration of the base image. */
async function contentAt({ registry, reference }: Source, descriptor: Descriptor): Promise<Uint8Array> {
  if (isManifestType(descriptor.mediaType)) {
    const manifest = await registry.getManifest(withDigest(reference, descriptor.digest));
    if (manifest) return manifest.bytes;
    throw new PipelineError(
      'not-found',
      `the base image references the manifest ${descriptor.digest}, which is missing`,
    );
  }
  if (descriptor.size > LARGEST_CONFIG) {
    throw new PipelineError('too-large', `the base image's configuration has ${descriptor.size} bytes`);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of registry.getBlob(reference, descriptor)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
