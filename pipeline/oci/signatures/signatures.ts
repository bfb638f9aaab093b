/**
 * The signatures that a registry holds of an image: Sigstore bundles among its referrers, and what cosign 2 stores
 * under tags. All of it is somebody's word until it is verified.
 *
 * @see https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
 */
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson, parseUniqueJson } from '../../../catalog/json.ts';
import { type DigestReference, type TagReference, withDigest } from '../../../catalog/reference.ts';
import { type ErrorCode, PipelineError } from '../../error.ts';
import type { Descriptor, Registry } from '../../ports.ts';
import { type ImageManifest, parseManifest } from '../registry/image.ts';
import { isTag } from '../registry/name.ts';
import { allOf } from '../registry/stream.ts';

/** Whose signatures count. */
export type Trust =
  /** Public keys, PEM; any of them. */
  | { readonly kind: 'keys'; readonly keys: readonly string[] }
  | {
      readonly kind: 'identity';
      /** Of the certificate, such as `https://github.com/acme/catalog/.github/workflows/publish.yaml@refs/heads/main`; `*` stands for anything. */
      readonly identity: string;
      /** Who vouches for it, such as `https://token.actions.githubusercontent.com`. */
      readonly issuer: string;
      /** A trusted root as JSON; that of Sigstore's public instance when left out. */
      readonly root?: unknown;
    };

/** A signature as it was found. */
export interface FoundSignature {
  /** Where, in words for messages. */
  readonly where: string;
  /** A Sigstore bundle as JSON. */
  readonly bundle: unknown;
  /** What was signed, where the bundle does not hold it itself. */
  readonly payload?: Buffer;
}

/** Something that is listed as a signature and cannot be read. */
interface UnreadableSignature {
  readonly where: string;
  readonly why: string;
  /** Whether the registry has it, so that nobody knows what it says. */
  readonly isThere: boolean;
}

/** Signatures that are read; more are somebody's attempt to keep us busy. */
const MOST = 256;
/** Bytes of a signature at most. */
const LARGEST = 1024 * 1024;

/** The artifact types of Sigstore bundles, of any version. */
const BUNDLE = /^application\/vnd\.dev\.sigstore\.bundle(?:\.v0\.\d+\+json|\+json;version=0\.\d+)$/;

/** What cosign writes under a tag: its end, the type of the layers, and how each is read. */
interface TaggedKind {
  readonly end: string;
  readonly mediaType: string;
  readonly read: (layer: Descriptor, bytes: Buffer) => Omit<FoundSignature, 'where'>;
}

const TAGGED: readonly TaggedKind[] = [
  {
    end: 'sig',
    mediaType: 'application/vnd.dev.cosign.simplesigning.v1+json',
    read: (layer, payload) => ({ bundle: bundleOf(layer, { messageSignature: messageOf(layer) }), payload }),
  },
  {
    end: 'att',
    mediaType: 'application/vnd.dsse.envelope.v1+json',
    read: (layer, bytes) => ({ bundle: bundleOf(layer, { dsseEnvelope: parsedJson(bytes) }) }),
  },
];

/**
 * The signatures of an image, one after the other: each is read when the one before has been checked.
 *
 * @throws PipelineError what the registry answers, where that is not about one signature alone
 */
export async function* signaturesOf(
  registry: Registry,
  image: DigestReference,
): AsyncGenerator<FoundSignature | UnreadableSignature, void, undefined> {
  const referrers = await registry.listReferrers(image, image.digest);
  const bundles = referrers.filter(({ artifactType = '' }) => BUNDLE.test(artifactType));
  for (const { digest } of bundles.slice(0, MOST)) {
    const where = `the referrer ${digest}`;
    yield await readOrExplain(where, async () => {
      const manifest = await manifestAt(registry, withDigest(image, digest));
      const [layer] = manifest?.layers ?? [];
      return { where, bundle: layer && parsedJson(await signatureContent(registry, image, layer)) };
    });
  }
  yield* signaturesBeyondLimit('referrers', bundles.length);
  for (const kind of TAGGED) yield* taggedSignatures(registry, image, kind);
}

/** A notice about the signatures beyond the limit: nobody knows what they say. */
function* signaturesBeyondLimit(
  where: string,
  found: number,
): Generator<UnreadableSignature, void, undefined> {
  if (found <= MOST) return;
  yield {
    where: `${found - MOST} more signatures among the ${where}`,
    why: `not read, the limit is ${MOST}`,
    isThere: true,
  };
}

/**
 * What is read of one signature, or why it cannot be read. Junk beside a signature that counts must not hide
 * it; a registry that fails might have one that counts, so its error is thrown.
 */
async function readOrExplain<T>(where: string, read: () => Promise<T>): Promise<T | UnreadableSignature> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof PipelineError) || error.retryable || !OF_CONTENT.has(error.code)) throw error;
    return { where, why: error.message, isThere: error.code !== 'not-found' };
  }
}

/** Errors about the content of one signature, not about the registry. */
const OF_CONTENT: ReadonlySet<ErrorCode> = new Set(['not-found', 'bad-answer', 'corrupt', 'too-large']);

/** The manifest of an artifact; undefined for a list, or where there is none. */
async function manifestAt(
  registry: Registry,
  at: DigestReference | TagReference,
): Promise<ImageManifest | undefined> {
  const manifest = await registry.getManifest(at);
  const read = manifest && parseManifest(manifest);
  return read?.kind === 'image' ? read : undefined;
}

/** The bytes of a signature. @throws PipelineError `too-large` */
async function signatureContent(
  registry: Registry,
  image: DigestReference,
  blob: Descriptor,
): Promise<Buffer> {
  if (blob.size <= LARGEST) return Buffer.from(await allOf(registry.getBlob(image, blob)));
  throw new PipelineError('too-large', `a signature of ${image.digest} has ${blob.size} bytes`);
}

/** What cosign wrote: a layer for each signature, with what verifies it in its annotations. */
async function* taggedSignatures(
  registry: Registry,
  image: DigestReference,
  { end, mediaType, read }: TaggedKind,
): AsyncGenerator<FoundSignature | UnreadableSignature, void, undefined> {
  const { registry: host, repository, digest } = image;
  const tag = `${digest.replace(':', '-')}.${end}`;
  // That of a sha512 digest would be too long for a tag: cosign has written none.
  if (!isTag(tag)) return;
  const listed = await readOrExplain(`the tag ${tag}`, async () => {
    const manifest = await manifestAt(registry, { kind: 'tag', registry: host, repository, tag });
    return (manifest?.layers ?? []).filter((layer) => layer.mediaType === mediaType);
  });
  if ('why' in listed) return yield listed;
  for (const [i, layer] of listed.slice(0, MOST).entries()) {
    const where = `signature ${i + 1} under the tag ${tag}`;
    yield await readOrExplain(where, async () => ({
      where,
      ...read(layer, await signatureContent(registry, image, layer)),
    }));
  }
  yield* signaturesBeyondLimit(`layers of the tag ${tag}`, listed.length);
}

// Annotations of a layer that cosign 2 writes: the signature, the signer's certificate, and Rekor's receipt.
const ANNOTATION = 'dev.cosignproject.cosign/signature';
const CERTIFICATE = 'dev.sigstore.cosign/certificate';
const REKOR = 'dev.sigstore.cosign/bundle';

/** A signature in cosign's older form, as a Sigstore bundle: with its certificate, or else for a key that the reader has. */
function bundleOf({ annotations = {} }: Descriptor, content: object): unknown {
  const certificate = annotations[CERTIFICATE];
  const entry = rekorEntry(annotations[REKOR]);
  const der = certificate && Buffer.from(certificate.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
    verificationMaterial: {
      ...(der
        ? { x509CertificateChain: { certificates: [{ rawBytes: der.toString('base64') }] } }
        : { publicKey: { hint: '' } }),
      tlogEntries: entry ? [entry] : [],
    },
    ...content,
  };
}

/** The signature of a payload that is a layer of its own, in the form of a Sigstore bundle. */
function messageOf({ annotations = {}, digest }: Descriptor): object {
  return {
    messageDigest: { algorithm: 'SHA2_256', digest: base64(digest.split(':')[1] ?? '') },
    signature: annotations[ANNOTATION] ?? '',
  };
}

/** Bytes in hexadecimal as base64, which bundles have them in. */
function base64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64');
}

/**
 * Rekor's receipt as cosign writes it, as an entry of a bundle; undefined for anything else. A field that it lacks becomes a
 * text that does not verify.
 */
function rekorEntry(text: string | undefined): unknown {
  const json = text === undefined ? undefined : parsedJson(Buffer.from(text));
  if (!isObject(json) || !isObject(json['Payload'])) return undefined;
  const { body, integratedTime, logIndex, logID } = json['Payload'];
  const logged = parsedJson(Buffer.from(String(body), 'base64'));
  const { kind, apiVersion } = isObject(logged) ? logged : {};
  return {
    logIndex: String(logIndex),
    logId: { keyId: base64(String(logID)) },
    kindVersion: { kind: String(kind), version: String(apiVersion) },
    integratedTime: String(integratedTime),
    inclusionPromise: { signedEntryTimestamp: String(json['SignedEntryTimestamp']) },
    canonicalizedBody: String(body),
  };
}

// What is signed in the format of containers/image: cosign's signatures of images, and those of OpenShift's releases. As
// containers/image does, it takes no payload of another type, with other fields, or with a repeated key.
//
// @see https://github.com/containers/image/blob/main/signature/internal/sigstore_payload.go
// @see https://github.com/openshift/library-go/blob/master/pkg/verify/verify.go

/** Of what somebody signed: any JSON, which the caller compares. */
interface SimpleClaims {
  /** The digest of the image's manifest. */
  readonly digest: unknown;
  /** The name that the signer gave to the image. */
  readonly name: unknown;
}

type PayloadType = 'cosign container image signature' | 'atomic container signature';

/**
 * What the payload of a simple signature claims.
 *
 * @throws Error (SyntaxError for what is not JSON) with the reason why the payload does not count
 */
export function simpleClaims(payload: string | Uint8Array, type: PayloadType): SimpleClaims {
  const { critical } = fieldsIn(parseUniqueJson(payload), ['critical', 'optional']);
  const { type: found, image, identity } = fieldsIn(critical, ['type', 'image', 'identity']);
  if (found !== type) throw new Error(`its type is ${JSON.stringify(found)}, not ${JSON.stringify(type)}`);
  const { 'docker-manifest-digest': digest } = fieldsIn(image, ['docker-manifest-digest']);
  const { 'docker-reference': name } = fieldsIn(identity, ['docker-reference']);
  return { digest, name };
}

/** An object of a payload that has no other fields than these. @throws Error with the reason */
function fieldsIn(value: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new Error(`the signed statement has no object with ${names.join(' and ')}`);
  const other = Object.keys(value).find((key) => !names.includes(key));
  if (other !== undefined)
    throw new Error(`the signed statement has an unknown field ${JSON.stringify(other)}`);
  return value;
}
