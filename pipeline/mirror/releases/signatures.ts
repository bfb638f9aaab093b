/**
 * Signatures of releases, from a directory or a web server laid out as
 * `sha256=HEX/signature-1`, `signature-2` and so on. Each is checked before it is passed on.
 *
 * @see https://mirror.openshift.com/pub/openshift-v4/signatures/openshift/release/
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ReleaseSignature } from '../../../catalog/mirror/release/signatures.ts';
import { readFileBytes } from '../../directory.ts';
import { PipelineError } from '../../error.ts';
import { simpleClaims } from '../../oci/signatures/signatures.ts';
import type { RepositoryPorts } from '../charts/repository.ts';
import { type Keyring, OpenPgpError, signedText } from './openpgp.ts';

/** Red Hat's addresses of OpenShift signatures. */
export const RED_HAT_SIGNATURES =
  'https://mirror.openshift.com/pub/openshift-v4/signatures/openshift/release';

export interface SignatureStore {
  /** A directory or an `https://` address. */
  readonly place: string;
  readonly keys: Keyring;
  readonly download: RepositoryPorts['download'];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Bytes of a signature; most have less than 1 kB. */
const LARGEST = 64 * 1024;
/** Signatures of one release that are looked for. */
const MOST = 16;

/** A signature, with the name under which it was signed. */
interface CheckedSignature extends ReleaseSignature {
  /** Such as `quay.io/openshift-release-dev/ocp-release:4.20.3-x86_64`. */
  readonly name: string;
}

/**
 * The signatures of a payload that a key of the store made; others are left out.
 *
 * @throws PipelineError `not-found` when there is none, `corrupt` when none is good
 */
export async function releaseSignatures(digest: string, store: SignatureStore): Promise<CheckedSignature[]> {
  const good: CheckedSignature[] = [];
  let why: string | undefined;
  for (let i = 1; i <= MOST; i++) {
    const bytes = await signatureAt(`${digest.replace(':', '=')}/signature-${i}`, store);
    if (!bytes) break;
    const name = nameIn(bytes, digest, store);
    if (typeof name === 'string') good.push({ digest, bytes, name });
    else why = name.why;
  }
  if (good.length > 0) return good;
  if (why !== undefined) throw new PipelineError('corrupt', `the signature of the release ${why}`);
  throw new PipelineError('not-found', `${store.place} has no signature of the release ${digest}`, {
    hint: 'name the place of its signatures with --release-signatures, or pass --release-signatures none for a release that is not signed',
  });
}

/** A signature from a directory or a server; undefined if there is none. */
async function signatureAt(
  path: string,
  { place, download }: SignatureStore,
): Promise<Uint8Array | undefined> {
  if (!/^https?:\/\//.test(place)) {
    const file = join(place, path);
    return existsSync(file) ? readFileBytes(file) : undefined;
  }
  try {
    const base = new URL(place.endsWith('/') ? place : `${place}/`);
    return await download(new URL(path, base), `the signature ${path}`, LARGEST);
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'not-found') return undefined;
    throw error;
  }
}

/** The name that a good signature gives to the payload, or why it is not good. */
function nameIn(bytes: Uint8Array, digest: string, { keys, now }: SignatureStore): string | { why: string } {
  let text: string;
  try {
    text = signedText(bytes, keys, now);
  } catch (error) {
    if (error instanceof OpenPgpError) return { why: error.message };
    throw error;
  }
  try {
    const claims = simpleClaims(text, 'atomic container signature');
    if (claims.digest !== digest) return { why: `is about another image: ${JSON.stringify(claims.digest)}` };
    return typeof claims.name === 'string' ? claims.name : { why: 'gives no name to the image' };
  } catch (error) {
    return { why: `is not about an image: ${error instanceof Error ? error.message : String(error)}` };
  }
}
