/**
 * A job of the Action asks for a publish, by its identity token and no other secret. Anybody can send to the
 * address, so nothing is believed before the token's signature and claims were looked at; what it asks for then
 * goes the way of every other publish, and is waited for.
 */
import { createHash } from 'node:crypto';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { isObject } from '../catalog/go/shape.ts';
import { parseJson } from '../catalog/json.ts';
import { PipelineError } from '../pipeline/error.ts';
import { validateClaims } from '../pipeline/github/claims.ts';
import type { Clock, Queue, RecordStore } from '../pipeline/ports.ts';
import { type CatalogMessage, messageOf, readWork } from '../pipeline/publish/delivery/message.ts';
import { isDone, noteOutcome, outcomeAt } from '../pipeline/publish/delivery/outcome.ts';
import { currentBeside } from '../pipeline/publish/documents.ts';
import type { Delivery, Source } from './receive.ts';

export interface AskPorts {
  readonly sources: readonly Source[];
  /** Who gives the tokens. */
  readonly issuer: string;
  /** Claims of a token whose signature is good. @throws PipelineError `denied`, `unreachable` */
  readonly readToken: (token: string) => Promise<Claims>;
  readonly queue: Queue;
  readonly records: RecordStore;
  readonly clock: Clock;
  /** How long an end is waited for, in ms. */
  readonly patience: number;
  readonly room: AnswerRoom;
  readonly log: (line: string) => void;
}

/** How much of its documents a host's answer has room for. */
export interface AnswerRoom {
  /** Bytes of all files, as they are sent. */
  readonly bytes: number;
  /** Bytes of a text as the host sends it. */
  readonly sent: (text: string) => number;
}

export interface JobRequest extends Delivery {
  /** The address that the job asked. */
  readonly audience: string;
}

/** What the job is told, as JSON. */
export type AskAnswer =
  | { readonly status: 200; readonly body: PublishAnswer }
  | { readonly status: 400 | 403 | 422 | 503; readonly body: { readonly error: string } };

/** What is published now: the commit that was asked for, or one that came after it. */
interface PublishAnswer {
  readonly published: true;
  readonly receipt: unknown;
  /** Texts by file name. */
  readonly files: Readonly<Record<string, string>>;
  /** Keys in the bucket of the files that are too large for the answer. */
  readonly tooLarge: readonly string[];
}

/** Bytes of a body and of a token that are looked at. */
const LARGEST = 16 * 1024;
/** Between two looks at the outcome, in ms. */
const PAUSE = 500;
/** Bytes of a file that goes into the answer, at most. */
const LARGEST_FILE = 1024 * 1024;
/** The file without which an answer says nothing. */
const RECEIPT = 'receipt.json';

/** Answers a job's request to publish: queues it, and says how far it is. A job repeats the request until it is done. */
export async function answerJob(asking: JobRequest, ports: AskPorts): Promise<AskAnswer> {
  try {
    const { work, run } = await allowedWork(asking, ports);
    const before = await outcomeAt(ports.records, work);
    if (!before || !isDone(before) || before.documents === undefined) {
      // What an earlier try ended with is not the end of this one; older functions named no documents of newer commits.
      await noteOutcome(ports.records, { ...checkNames(work), state: 'pending', detail: work.commit });
      const message = messageOf(work);
      // Each run of a job is a message of its own: the queue would drop one whose id it has had.
      await ports.queue.send({ ...message, id: digestOf(`${message.id} ${run}`) });
    }
    return await answerOnceEnded(work, ports);
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    ports.log(`refused a job: ${error.message}`);
    return { status: STATUS[error.code] ?? 503, body: { error: error.message } };
  }
}

/** What the job can correct; for everything else it tries again (503). */
const STATUS: Readonly<Record<string, 400 | 403>> = { usage: 400, denied: 403 };

/**
 * What a job may ask to publish.
 *
 * @throws PipelineError `denied` for a job that may not ask, `usage` for a request that is not valid
 */
async function allowedWork(
  { headers, body, audience }: JobRequest,
  { sources, issuer, readToken, clock }: AskPorts,
): Promise<{ readonly work: CatalogMessage; readonly run: string }> {
  // The three parts of a JSON web token.
  const [, token] = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/.exec(headers['authorization'] ?? '') ?? [];
  if (token === undefined || token.length > LARGEST)
    throw new PipelineError('denied', 'the identity token is missing');
  if (body.length > LARGEST) throw new PipelineError('usage', 'the body is too large');
  const claims = await readToken(token);
  const own = sources.filter(({ id }) => String(id) === claims['repository_id']);
  // A token for none of the branches is refused by its claims, and told why.
  const source = own.find(({ branch }) => claims['ref'] === `refs/heads/${branch}`) ?? own[0];
  if (!source?.job) throw new PipelineError('denied', 'jobs of this repository are not allowed');
  const { id, branch, repository, job } = source;
  validateClaims(
    claims,
    {
      issuer,
      audience,
      repositoryId: String(id),
      ownerId: String(job.ownerId),
      ref: `refs/heads/${branch}`,
      workflow: job.workflow,
      environment: job.environment,
    },
    Math.floor(clock.now() / 1000),
  );
  const { commit, catalog } = fieldsIn(body);
  const work = readWork(JSON.stringify({ v: 1, kind: 'catalog', repository, branch, commit, catalog }));
  if (work.kind !== 'catalog')
    throw new TypeError('internal error: the message for a catalog was read differently');
  return { work, run: `${claims['run_id']} ${claims['run_attempt']}` };
}

/** The JSON object in a body. @throws PipelineError `usage` */
function fieldsIn(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new PipelineError('usage', 'the body is not a JSON object', {
    hint: '{"commit": "…", "catalog": "v4.20"}',
  });
}

/** What names an outcome. */
function checkNames({ repository, catalog, commit }: CatalogMessage) {
  return { repository, catalog, commit };
}

/** SHA-256 in hexadecimal. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Waits for the end of a publish. A try that failed is not one: the message comes again. */
async function answerOnceEnded(
  work: CatalogMessage,
  { records, clock, patience, room }: AskPorts,
): Promise<AskAnswer> {
  const until = clock.now() + patience;
  for (;;) {
    const outcome = await outcomeAt(records, work);
    if (outcome?.state === 'refused') return { status: 422, body: { error: outcome.detail } };
    if (outcome?.state === 'retired') return unpublishedAnswer(outcome.detail);
    if (outcome && isDone(outcome) && outcome.documents !== undefined) {
      return { status: 200, body: await answerOf(outcome.documents, { records, room }) };
    }
    if (clock.now() >= until) {
      const why = outcome?.state === 'failed' ? outcome.detail : 'it is waiting for its turn';
      return unpublishedAnswer(why);
    }
    await clock.sleep(PAUSE);
  }
}

/** The answer that a job takes for "not yet": it repeats its request. */
function unpublishedAnswer(why: string): AskAnswer {
  return { status: 503, body: { error: `not published yet: ${why}` } };
}

/**
 * The answer about an ended publish: the documents of what is published now, as far as they fit into the answer.
 *
 * @param ended prefix of the keys of the documents that the job's commit ended with
 */
async function answerOf(
  ended: string,
  { records, room: { bytes, sent: sentBytes } }: Pick<AskPorts, 'records' | 'room'>,
): Promise<PublishAnswer> {
  // Somebody may start an old run again: it must not report its own commit as published where a newer one is.
  const current = await currentBeside(records, ended);
  // The record of a catalog that was retired since names no documents.
  const documents = current && current.retired === undefined ? current.documents : ended;
  const files: Record<string, string> = {};
  const tooLarge: string[] = [];
  let room = bytes;
  const receipt = `${documents}${RECEIPT}`;
  const others = (await records.list(documents)).filter((key) => key !== receipt);
  // The receipt comes first: no other file may take its room.
  for (const key of [receipt, ...others]) {
    const record = await records.get(key);
    if (!record) continue;
    const text = new TextDecoder().decode(record.bytes);
    const sent = record.bytes.length <= LARGEST_FILE ? sentBytes(text) : Number.POSITIVE_INFINITY;
    if (sent > room) {
      tooLarge.push(key);
      continue;
    }
    room -= sent;
    files[key.slice(documents.length)] = text;
  }
  return { published: true, receipt: parseJson(files[RECEIPT] ?? 'null'), files, tooLarge };
}

// A job's identity token, looked at with the keys of whoever gives such tokens.

/** What a token says; what of it is asked for is another matter. */
type Claims = Readonly<Record<string, unknown>>;

/** How long the keys may take to come, in ms. */
const TIMEOUT = 5000;
/** How far clocks may be apart, in s. */
const SKEW = 60;

/**
 * Reads identity tokens. It checks who issued a token and until when it holds; whom it is for and what it allows, the caller checks.
 *
 * @param issuer a URL, whose keys stand where GitHub and Sigstore's other issuers have them
 * @throws PipelineError from its function: `denied` for a token that the issuer did not sign,
 *   `unreachable` (retryable) when the keys cannot be had
 */
export function tokenReader(issuer: string): (token: string) => Promise<Claims> {
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks`), { timeoutDuration: TIMEOUT });
  return async (token) => {
    try {
      // One algorithm: a token does not choose how it is checked.
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ['RS256'],
        issuer,
        clockTolerance: SKEW,
      });
      return payload;
    } catch (cause) {
      if (isTokenError(cause)) {
        throw new PipelineError('denied', `the identity token was not issued by ${issuer}`, { cause });
      }
      throw new PipelineError('unreachable', `cannot get the keys of ${issuer}`, {
        cause,
        retryable: true,
      });
    }
  };
}

/** Whether the token is at fault, and not the way to the keys. */
function isTokenError(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false;
  // The last one is jose's for an answer with another status than 200, or that is not JSON.
  const ofKeys = [errors.JWKSTimeout.code, errors.JWKSInvalid.code, errors.JOSEError.code];
  return !ofKeys.includes(error.code);
}
