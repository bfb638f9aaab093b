/** Whether an image is signed by whom it must be signed by. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isObject } from '../../../catalog/go/shape.ts';
import { parseUniqueJson } from '../../../catalog/json.ts';
import type { DigestReference } from '../../../catalog/reference.ts';
import { PipelineError } from '../../error.ts';
import type { Registry } from '../../ports.ts';
import { matchesGlob } from '../../text.ts';
import { type FoundSignature, signaturesOf, simpleClaims, type Trust } from './signatures.ts';

/** Media type of an in-toto statement. */
export const STATEMENT_TYPE = 'application/vnd.in-toto+json';

/** The predicate of a statement that is a signature, and says no more. */
export const COSIGN_PREDICATE = 'https://sigstore.dev/cosign/sign/v1';

interface VerifiedSignature {
  /** Where it was found, in words. */
  readonly where: string;
  /** An identity, or the number of a key among those that are trusted. */
  readonly by: string;
  /** What was said of the image: a predicate's type, or `signature`. */
  readonly says: string;
  /** Whether it is a signature: that somebody stands for the image. An attestation may as well say that a test failed. */
  readonly isSignature: boolean;
  /** The statement's predicate; undefined for plain signatures. */
  readonly predicate?: unknown;
}

export interface SignatureReport {
  readonly verified: readonly VerifiedSignature[];
  /** Signatures that do not count, each with the reason. */
  readonly rejected: readonly RejectedSignature[];
  /** Those of the rejected ones that the registry has and that could not be read: nobody knows what they say. */
  readonly unread: readonly RejectedSignature[];
}

interface RejectedSignature {
  readonly where: string;
  readonly why: string;
}

/**
 * Verifies every signature and attestation of an image.
 *
 * @throws PipelineError `usage` for keys or roots that cannot be read, and whatever the registry answers
 */
export async function verifySignatures(
  registry: Registry,
  image: DigestReference,
  trust: Trust,
): Promise<SignatureReport> {
  const check = await checkOf(trust);
  const verified: VerifiedSignature[] = [];
  const rejected: RejectedSignature[] = [];
  const unread: RejectedSignature[] = [];
  for await (const found of signaturesOf(registry, image)) {
    const { where } = found;
    if ('why' in found) {
      const { why, isThere } = found;
      rejected.push({ where, why });
      if (isThere) unread.push({ where, why });
      continue;
    }
    try {
      const { says, isSignature, predicate } = claimOf(found, image.digest);
      verified.push({
        where,
        by: await check(found),
        says,
        isSignature,
        ...(predicate === undefined ? {} : { predicate }),
      });
    } catch (error) {
      rejected.push({ where, why: error instanceof Error ? error.message : String(error) });
    }
  }
  return { verified, rejected, unread };
}

/** A statement that somebody trusted has signed. */
interface TrustedStatement {
  /** As in {@link VerifiedSignature}. */
  readonly by: string;
  /** What was signed. */
  readonly payload: Buffer;
}

/**
 * Verifies a Sigstore bundle with a statement that is not beside an image.
 *
 * @throws Error with the reason where it does not count; PipelineError `usage` for keys that cannot be read
 */
export async function verifyStatement(bundle: unknown, trust: Trust): Promise<TrustedStatement> {
  const check = await checkOf(trust);
  if (!isObject(bundle)) throw new Error('not a Sigstore bundle');
  const payload = statementIn(bundle['dsseEnvelope']);
  return { by: await check({ where: '', bundle }), payload };
}

/** Whether an image has a signature that counts. Attestations are none, whatever they say. */
export function isSigned({ verified }: SignatureReport): boolean {
  return verified.some(({ isSignature }) => isSignature);
}

/** Why an image without a signature that counts has none, for messages. */
export function whyUnsigned({ verified, rejected }: SignatureReport): string {
  const [first] = rejected;
  const attested = verified.find(({ isSignature }) => !isSignature);
  if (!first && attested) return `it has none, but an attestation: ${attested.says}`;
  if (!first) return 'it has none';
  const more = rejected.length === 1 ? '' : ` (and ${rejected.length - 1} more)`;
  return `${first.where}: ${first.why}${more}`;
}

/** Says who signed; throws an Error with the reason when it is nobody who counts. */
type Check = (found: FoundSignature) => Promise<string>;

/** The check for a kind of trust. @throws PipelineError `usage` for a key or root that cannot be read */
async function checkOf(trust: Trust): Promise<Check> {
  return trust.kind === 'keys' ? byKeys(trust.keys.map(publicKey)) : byIdentity(trust);
}

/** A public key in PEM. @throws PipelineError `usage` */
function publicKey(pem: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch (cause) {
    throw new PipelineError('usage', 'a verification key is not a public key in PEM format', { cause });
  }
}

/** The check that one of the keys made a signature. It gives the key's number. */
function byKeys(keys: readonly KeyObject[]): Check {
  return async (found) => {
    const { entityOf } = await import('./sigstore.ts');
    const { signature } = entityOf(found);
    // The library hashes plain payloads first, which keys of ed25519 do not.
    const isBy = (key: KeyObject): boolean =>
      found.payload && key.asymmetricKeyType === 'ed25519'
        ? verify(null, found.payload, key, signature.signature)
        : signature.verifySignature(key);
    const at = keys.findIndex(isBy);
    if (at < 0) throw new Error('it was not made with a trusted key');
    return `key ${at + 1}`;
  };
}

/** The check that a signature was made by an identity, as the issuer vouches. It gives the signer's name. */
async function byIdentity({ identity, issuer, root }: Extract<Trust, { kind: 'identity' }>): Promise<Check> {
  const { entityOf, verifierBy } = await import('./sigstore.ts');
  const verifier = await verifierBy(root);
  return async (found) => {
    const { identity: signer } = verifier.verify(entityOf(found));
    const name = signer?.subjectAlternativeName ?? '';
    const vouched = signer?.extensions?.issuer ?? '';
    // Compared whole: the library would take a part of a name for the name.
    if (!matchesGlob(identity, name))
      throw new Error(`it was made by ${JSON.stringify(name)}, not by ${JSON.stringify(identity)}`);
    if (vouched !== issuer)
      throw new Error(`the issuer is ${JSON.stringify(vouched)}, not ${JSON.stringify(issuer)}`);
    return name;
  };
}

type Claim = Pick<VerifiedSignature, 'says' | 'isSignature' | 'predicate'>;

/** What a signature says, which must be of this very image. */
function claimOf({ bundle, payload }: FoundSignature, digest: string): Claim {
  if (!isObject(bundle)) throw new Error('not a Sigstore bundle');
  return payload ? plainClaim(payload, digest) : statementClaim(bundle['dsseEnvelope'], digest);
}

/** What a signature in cosign's older form says. @throws Error for one of another image */
function plainClaim(payload: Buffer, digest: string): Claim {
  const claims = simpleClaims(payload, 'cosign container image signature');
  if (claims.digest !== digest) throw new Error('it belongs to another image');
  return { says: 'signature', isSignature: true };
}

/** The statement in a Sigstore bundle's envelope. @throws Error for an envelope without one */
function statementIn(envelope: unknown): Buffer {
  const { payloadType, payload } = isObject(envelope) ? envelope : {};
  // Anything but text is other bytes to the library, which verifies them.
  if (payloadType === STATEMENT_TYPE && typeof payload === 'string') return Buffer.from(payload, 'base64');
  throw new Error('it has no statement');
}

/** Versions of in-toto's statements: cosign 2 writes the first. */
const STATEMENTS: ReadonlySet<unknown> = new Set([
  'https://in-toto.io/Statement/v0.1',
  'https://in-toto.io/Statement/v1',
]);

/**
 * What a signed statement says. Only a digest of the same algorithm makes it one of this image.
 *
 * @throws Error for one of another image
 */
function statementClaim(envelope: unknown, digest: string): Claim {
  const { _type, subject, predicateType, predicate } = objectIn(statementIn(envelope));
  if (!STATEMENTS.has(_type))
    throw new Error(`it is not an in-toto statement: its _type is ${JSON.stringify(_type)}`);
  const [algorithm = '', hex = ''] = digest.split(':');
  const isOurs = (one: unknown): boolean =>
    isObject(one) &&
    isObject(one['digest']) &&
    Object.hasOwn(one['digest'], algorithm) &&
    one['digest'][algorithm] === hex;
  if (!Array.isArray(subject) || !subject.some(isOurs)) throw new Error('it belongs to another image');
  return { says: String(predicateType), isSignature: predicateType === COSIGN_PREDICATE, predicate };
}

/**
 * The JSON object in a statement.
 *
 * @throws Error for other JSON, or for a key that is there twice: readers differ in which counts, and Go's take `Subject` for
 *   `subject`
 */
function objectIn(bytes: Buffer): Readonly<Record<string, unknown>> {
  const json: unknown = parseUniqueJson(bytes);
  if (!isObject(json)) throw new Error('the signed statement is not a JSON object');
  const names = Object.keys(json).map((name) => name.toLowerCase());
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new Error(`the signed statement has ${JSON.stringify(twice)} twice`);
  return json;
}
