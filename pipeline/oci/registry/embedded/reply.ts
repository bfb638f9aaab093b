/** Answers of the registry, and how they go out. */

import type { ServerResponse } from 'node:http';
import { PipelineError } from '../../../error.ts';

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | number | readonly string[]>>;
  /** Bytes, or a stream with as many bytes as the header `content-length`. */
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>;
}

/** @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#error-codes */
type SpecCode =
  | 'BLOB_UNKNOWN'
  | 'BLOB_UPLOAD_INVALID'
  | 'BLOB_UPLOAD_UNKNOWN'
  | 'DIGEST_INVALID'
  | 'MANIFEST_BLOB_UNKNOWN'
  | 'MANIFEST_INVALID'
  | 'MANIFEST_UNKNOWN'
  | 'NAME_INVALID'
  | 'NAME_UNKNOWN'
  | 'SIZE_INVALID'
  | 'TOOMANYREQUESTS'
  | 'UNAUTHORIZED'
  | 'DENIED'
  | 'UNSUPPORTED'
  /** Docker's registry uses this code for server failures; the specification has none. */
  | 'UNKNOWN';

/** An error reply with its reason. */
export function refusalReply(status: number, code: SpecCode, message: string): Reply {
  return jsonReply(status, { errors: [{ code, message }] });
}

/** An answer with a value as JSON. */
export function jsonReply(status: number, value: unknown, headers: Reply['headers'] = {}): Reply {
  const body = Buffer.from(JSON.stringify(value));
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': body.length, ...headers },
    body,
  };
}

/** The answer to a request that could not be served for a reason of this machine or of its bytes. @throws any other error */
export function replyTo(error: unknown): Reply {
  if (!(error instanceof PipelineError)) throw error;
  if (error.code === 'corrupt') return refusalReply(400, 'DIGEST_INVALID', error.message);
  if (error.code === 'bad-answer') return refusalReply(400, 'MANIFEST_INVALID', error.message);
  if (error.code === 'not-found') return refusalReply(404, 'MANIFEST_BLOB_UNKNOWN', error.message);
  // An immutable tag, as `pushManifest` answers it.
  if (error.code === 'denied') return refusalReply(400, 'DENIED', error.message);
  if (error.code === 'conflict') return refusalReply(405, 'UNSUPPORTED', error.message);
  if (error.code === 'rate-limited') {
    // The minute for which `passwordAttempts` counts wrong passwords, in seconds.
    const reply = refusalReply(429, 'TOOMANYREQUESTS', error.message);
    return { ...reply, headers: { ...reply.headers, 'retry-after': 60 } };
  }
  if (error.code === 'too-large') return refusalReply(413, 'SIZE_INVALID', error.message);
  const { code } = Object(error.cause) as NodeJS.ErrnoException;
  // 507 for a full disk: clients do not retry after it, as they do after 500.
  return refusalReply(code === 'ENOSPC' || code === 'EDQUOT' ? 507 : 500, 'UNKNOWN', error.message);
}

/**
 * Writes an answer.
 *
 * @returns bytes of the body that went out
 */
export async function writeReply(response: ServerResponse, reply: Reply, withBody: boolean): Promise<number> {
  response.writeHead(reply.status, { 'content-length': 0, ...(reply.headers as Record<string, string>) });
  const { body } = reply;
  if (body === undefined || !withBody) {
    response.end();
    return 0;
  }
  if (body instanceof Uint8Array) {
    response.end(body);
    return body.length;
  }
  let sent = 0;
  try {
    for await (const chunk of body) {
      if (response.destroyed) break;
      sent += chunk.length;
      if (!response.write(chunk)) await drained(response);
    }
    response.end();
  } catch {
    // The status has been sent already: only a broken connection can report the error.
    response.destroy();
  }
  return sent;
}

/**
 * Waits until a connection takes more bytes, or is closed: a client that reads slowly must not fill the
 * memory.
 */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
