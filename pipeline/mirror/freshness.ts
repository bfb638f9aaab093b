/**
 * Freshness statements where they are kept: beside a mapping, in an archive, and in the mirror under a tag beside the
 * index image. A tag, not a referrer: whoever moves the index image back does not bring an old statement with it.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isObject } from '../../catalog/go/shape.ts';
import { parseJson } from '../../catalog/json.ts';
import {
  type AcceptedStatements,
  acceptedText,
  type FreshnessStatement,
  InvalidFreshness,
  readAccepted,
  readFreshness,
  type SignedStatement,
} from '../../catalog/mirror/freshness/freshness.ts';
import { formatReference, type Reference, type TagReference } from '../../catalog/reference.ts';
import { readText } from '../directory.ts';
import { PipelineError } from '../error.ts';
import { digestOf } from '../oci/digest.ts';
import type { Trust } from '../oci/signatures/signatures.ts';
import { verifyStatement } from '../oci/signatures/verify.ts';
import type { Registry } from '../ports.ts';
import { writeFiles } from '../write.ts';
import { putSmallArtifact, readSmallArtifact } from './small-artifact.ts';

/** The signed statement as a Sigstore bundle, beside the mapping and in an archive. */
export const FRESHNESS = 'freshness.json';

/** The signed bytes as they were found. */
export interface FoundStatement {
  /** A path or a reference, for messages. */
  readonly where: string;
  readonly bytes: Buffer;
}

/** The statement in a directory; undefined if there is none. @throws PipelineError `io` */
export function statementIn(directory: string): FoundStatement | undefined {
  const where = join(directory, FRESHNESS);
  return existsSync(where) ? { where, bytes: Buffer.from(readText(where)) } : undefined;
}

/** What follows the index image's tag or digest in the tag of its statement. */
const SUFFIX = '.freshness';
/** Characters of a tag at most, by the distribution specification. */
const LONGEST_TAG = 128;

/** The mirror's reference of the statement about an index image; with a digest in place of a tag that would be too long. */
export function statementTag(index: Reference): TagReference {
  const { registry, repository } = index;
  const name = index.kind === 'tag' ? index.tag : index.digest;
  const tag = name.replace(':', '-') + SUFFIX;
  if (tag.length <= LONGEST_TAG) return { kind: 'tag', registry, repository, tag };
  const short = digestOf(Buffer.from(name)).replace(':', '-');
  return { kind: 'tag', registry, repository, tag: short + SUFFIX };
}

/** The statement in the mirror; undefined if there is none. @throws PipelineError errors of the registry */
export async function statementBeside(
  index: Reference,
  registry: Pick<Registry, 'getManifest' | 'getBlob'>,
): Promise<FoundStatement | undefined> {
  const tag = statementTag(index);
  const where = formatReference(tag);
  const bytes = await readSmallArtifact(tag, registry);
  return bytes && { where, bytes };
}

/** Puts a statement beside an index image. @throws PipelineError what the registry answers */
export async function putStatement(index: Reference, bytes: Uint8Array, registry: Registry): Promise<void> {
  await putSmallArtifact(statementTag(index), { bytes, type: BUNDLE }, registry);
}

/** Media type of a Sigstore bundle. */
const BUNDLE = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/**
 * The content of a statement whose signature counts.
 *
 * @throws InvalidFreshness for one that no trusted key has signed, or that is not about a mirror
 */
export async function trustedStatement({ bytes }: FoundStatement, trust: Trust): Promise<SignedStatement> {
  const { by, payload } = await verifiedStatement(bytes, trust);
  const statement = readFreshness(payload.toString());
  return { version: statement.version, digest: digestOf(payload), statement, by };
}

/**
 * The payload of a signed statement, and who signed it.
 *
 * @throws InvalidFreshness for a signature that does not count
 */
async function verifiedStatement(bytes: Buffer, trust: Trust): ReturnType<typeof verifyStatement> {
  try {
    return await verifyStatement(parseJson(bytes), trust);
  } catch (cause) {
    if (cause instanceof PipelineError) throw cause;
    throw new InvalidFreshness(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** The content of a statement, signed or not; undefined if it cannot be read. */
export function statedBy({ bytes }: FoundStatement): FreshnessStatement | undefined {
  try {
    const bundle: unknown = parseJson(bytes);
    const envelope = isObject(bundle) ? bundle['dsseEnvelope'] : undefined;
    const payload = isObject(envelope) ? envelope['payload'] : undefined;
    return readFreshness(Buffer.from(String(payload), 'base64').toString());
  } catch (error) {
    if (error instanceof InvalidFreshness || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The statements accepted on this machine. @throws PipelineError `usage` for a file that cannot be read */
export function acceptedIn(file: string): AcceptedStatements {
  if (!existsSync(file)) return { seenAt: undefined, indexes: new Map() };
  try {
    return readAccepted(readText(file));
  } catch (cause) {
    if (!(cause instanceof InvalidFreshness)) throw cause;
    throw new PipelineError('usage', `${file} cannot be read: ${cause.message}`, {
      cause,
      hint: 'restore it: without it, a rollback is not found',
    });
  }
}

/** Notes the statements accepted on this machine, by which a rollback is found later. */
export function writeAccepted(file: string, accepted: AcceptedStatements): void {
  writeFiles(dirname(file), new Map([[basename(file), acceptedText(accepted)]]));
}
