/**
 * One HTTP request and its answer: nothing is retried or followed here. Every way in which
 * a host can keep us waiting has a limit.
 */
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { PipelineError } from '../../../error.ts';
import type { Connections } from './connection.ts';
import { stoppedByCaller } from './retry.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RequestBody {
  /** In bytes; exactly so many are sent. */
  readonly size: number;
  /** The bytes, from the first one each time. */
  open(): AsyncIterable<Uint8Array>;
}

interface Outgoing {
  readonly method: Method;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  readonly signal?: AbortSignal;
  /** Whether the host only looks something up. */
  readonly isLook: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The URL of the reply, after redirects. */
  readonly url: URL;
  /** The body, once; it must be read to its end or discarded. */
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * The body, at once, in place of `body`: what came of it, and what ended it too early. Of one with more bytes than
   * `limit`, a few more than these come.
   */
  whole(limit: number): Promise<Whole>;
  /** Ends when the connection can serve again, or is closed. */
  discard(): Promise<void>;
}

interface Whole {
  readonly bytes: Buffer;
  readonly error?: PipelineError;
}

/** Milliseconds, and bytes per second. */
export interface Timeouts {
  /** Until a connection stands, and between two signs of life while a body is sent. */
  readonly silence: number;
  /** From the end of a request to the head of its answer. */
  readonly answer: number;
  /** The same where the host only looks something up; not more than `answer`. */
  readonly look: number;
  /** Between two pieces of an answer's body. */
  readonly pause: number;
  /** A body that comes more slowly than this, waits for its reader not counted, is given up. */
  readonly slowest: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  silence: 15_000,
  answer: 120_000,
  look: 30_000,
  pause: 30_000,
  slowest: 1024,
};

/** No answer came in time. */
export class NoAnswer extends PipelineError {}

/** Bytes of bodies, as they pass. */
export interface Meter {
  sent(bytes: number): void;
  received(bytes: number): void;
}

interface ExchangeOptions {
  readonly connections: Connections;
  readonly timeouts: Timeouts;
  readonly meter: Meter;
}

/**
 * Sends a request and gives the head of its answer.
 *
 * @throws PipelineError `unreachable` when no answer came, `not-allowed` for a refused address
 */
export async function exchangeOnce(outgoing: Outgoing, options: ExchangeOptions): Promise<Answer> {
  if (outgoing.signal?.aborted) throw stoppedByCaller(outgoing.signal);
  const route = await options.connections.route(outgoing.url);
  // Writes declare a length even without a body; reads never have one.
  const size =
    outgoing.body?.size ?? (outgoing.method === 'GET' || outgoing.method === 'HEAD' ? undefined : 0);
  const request = (route.secure ? httpsRequest : httpRequest)({
    ...route.options,
    method: outgoing.method,
    headers: {
      ...outgoing.headers,
      ...route.headers,
      ...(size === undefined ? {} : { 'content-length': String(size) }),
    },
    ...(outgoing.signal === undefined ? {} : { signal: outgoing.signal }),
  });
  const message = await answerOf(request, outgoing, options);
  return {
    status: message.statusCode ?? 0,
    headers: message.headers,
    url: outgoing.url,
    body: readBody(message, outgoing, options),
    whole: (limit) => readWhole(message, limit, { outgoing, ...options }),
    discard: () => discard(message, options.meter),
  };
}

/** Sends the body and waits for the head of the answer, which may come before the body has gone. */
function answerOf(
  request: ClientRequest,
  outgoing: Outgoing,
  { timeouts, meter }: ExchangeOptions,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { give, end } = createWatch((reason) =>
      request.destroy(new NoAnswer('unreachable', `${outgoing.url.host} ${reason}`, { retryable: true })),
    );
    give('does not accept the connection', timeouts.silence);
    request.once('socket', (socket) => {
      // A kept connection is ready; a new one goes on with TLS once it stands.
      if (socket.connecting)
        socket.once('connect', () => give('does not finish the handshake', timeouts.silence));
    });
    request.on('drain', () => give('stopped reading', timeouts.silence));
    const limit = outgoing.isLook ? Math.min(timeouts.look, timeouts.answer) : timeouts.answer;
    request.once('finish', () => give('does not respond', limit));
    request.once('response', (message) => {
      end();
      resolve(message);
    });
    // Stays for good: a connection that breaks after the answer must not bring the process down.
    request.on('error', (error) => {
      end();
      reject(connectionError(outgoing, error));
    });
    sendBody(request, outgoing.body, meter).catch((error: Error) => {
      // The source failed, not the connection: pass its error on.
      reject(error);
      request.destroy();
    });
  });
}

interface Watch {
  /** Gives so much time from now on for what comes next. */
  give(reason: string, milliseconds: number): void;
  end(): void;
}

/**
 * Watches that each step of a request comes in time. To set a timer anew for each step costs too much with thousands of requests:
 * one that goes off too early for the current step is only then set again.
 *
 * @param late called with the step that took too long
 */
function createWatch(late: (reason: string) => void): Watch {
  let timer: NodeJS.Timeout | undefined;
  let reason = '';
  let until = 0;
  // When the step is late, and when the timer rings, which may be earlier.
  let rings = Infinity;
  const set = (): void => {
    clearTimeout(timer);
    rings = until;
    timer = setTimeout(ring, until - performance.now());
  };
  const ring = (): void => (until > rings ? set() : late(reason));
  return {
    give: (next, milliseconds) => {
      reason = next;
      until = performance.now() + milliseconds;
      // A later end needs no new timer: `ring` sets it again.
      if (timer === undefined || until < rings) set();
    },
    end: () => clearTimeout(timer),
  };
}

/** Sends a body. It stops once the host has answered. @throws an error if the body does not have its size */
async function sendBody(request: ClientRequest, body: RequestBody | undefined, meter: Meter): Promise<void> {
  if (body === undefined) return void request.end();
  let sent = 0;
  let over = false;
  // A host that has answered, or gone, reads no more of the body.
  request.once('response', () => (over = true));
  request.once('close', () => (over = true));
  for await (const chunk of body.open()) {
    if (over || request.destroyed) return;
    sent += chunk.length;
    if (sent > body.size) throw wrongSize(sent, body.size);
    meter.sent(chunk.length);
    if (!request.write(chunk)) await drained(request);
  }
  if (sent !== body.size) throw wrongSize(sent, body.size);
  request.end();
}

function wrongSize(found: number, expected: number): PipelineError {
  return new PipelineError('corrupt', `content has at least ${found} bytes, expected ${expected}`);
}

/** Waits until a connection takes more bytes, is closed, or has answered. */
function drained(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      request.off('drain', done).off('close', done).off('response', done);
      resolve();
    };
    request.on('drain', done).on('close', done).on('response', done);
  });
}

/** The bytes of a response. @throws PipelineError if the host stops sending, or sends too slowly */
async function* readBody(
  message: IncomingMessage,
  outgoing: Outgoing,
  { timeouts, meter }: ExchangeOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  let waited = 0;
  const chunks = message[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      // Only the host's time counts, not the reader's time between two reads.
      const before = performance.now();
      const stalled = setTimeout(
        () => message.destroy(tooSlow(outgoing.url, 'stopped sending')),
        timeouts.pause,
      );
      const { done, value } = await chunks.next().finally(() => clearTimeout(stalled));
      waited += performance.now() - before;
      if (done) return;
      // Only after `pause`: the first pieces alone say nothing about the rate.
      bytes += value.length;
      meter.received(value.length);
      if (waited > timeouts.pause && (bytes * 1000) / waited < timeouts.slowest) {
        throw tooSlow(outgoing.url, 'sends too slowly');
      }
      yield value;
    }
  } catch (error) {
    throw connectionError(outgoing, error as Error);
  } finally {
    await discard(message, meter);
  }
}

/**
 * The body of an answer that is small, read at once: for thousands of small ones, piece by piece takes much
 * longer.
 */
function readWhole(
  message: IncomingMessage,
  limit: number,
  { outgoing, timeouts, meter }: ExchangeOptions & { readonly outgoing: Outgoing },
): Promise<Whole> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const began = performance.now();
    const stalled = setTimeout(
      () => message.destroy(tooSlow(outgoing.url, 'stopped sending')),
      timeouts.pause,
    );
    const done = (error?: Error): void => {
      clearTimeout(stalled);
      const bytes = Buffer.concat(chunks, size);
      resolve(error ? { bytes, error: connectionError(outgoing, error) } : { bytes });
    };
    message.on('data', (chunk: Uint8Array) => {
      stalled.refresh();
      size += chunk.length;
      meter.received(chunk.length);
      chunks.push(chunk);
      const took = performance.now() - began;
      if (size > limit) {
        done();
        message.destroy();
      } else if (took > timeouts.pause && (size * 1000) / took < timeouts.slowest)
        message.destroy(tooSlow(outgoing.url, 'sends too slowly'));
    });
    const broken = (): void => done(new Error('Premature close'));
    message.once('end', () => {
      message.off('close', broken);
      done();
    });
    message.on('error', done);
    message.once('close', broken);
    // A message that is closed already tells so no more.
    if (message.closed) broken();
  });
}

/** Bytes of a rest that are read so that the connection can serve again; a longer one is cheaper to cut. */
const SMALL_REST = 64 * 1024;
/** Milliseconds for such a rest to come. */
const REST_TIME = 1000;

/** Reads a short rest, so that the connection can be used again, and cuts off a long one. */
function discard(message: IncomingMessage, meter: Meter): Promise<void> {
  if (message.readableEnded || message.destroyed) return Promise.resolve();
  const { method } = (message as IncomingMessage & { readonly req: ClientRequest }).req;
  const isShort = method === 'HEAD' || Number(message.headers['content-length'] ?? Number.NaN) <= SMALL_REST;
  if (!isShort) {
    message.destroy();
    return Promise.resolve();
  }
  // Without a body, the answer ends with its head, and needs no timer.
  const isEmpty = method === 'HEAD' || message.headers['content-length'] === '0';
  return new Promise((resolve) => {
    if (isEmpty) return void message.once('close', resolve).resume();
    const cut = setTimeout(() => message.destroy(), REST_TIME);
    message.on('error', () => undefined);
    message.on('data', (chunk: Uint8Array) => meter.received(chunk.length));
    message.once('close', () => {
      clearTimeout(cut);
      resolve();
    });
  });
}

function tooSlow(url: URL, what: string): PipelineError {
  return new PipelineError('unreachable', `${url.host} ${what}`, { retryable: true });
}

/** Failures that another try cannot mend. */
const FINAL = new Set(['ENOTFOUND', 'EPROTO', 'ERR_INVALID_URL', 'ERR_INVALID_CHAR', 'EACCES', 'EPERM']);

/** An error of a connection as a PipelineError, with whether another try may help. */
function connectionError({ url, method, signal }: Outgoing, error: Error): PipelineError {
  if (error instanceof PipelineError) return error;
  if (signal?.aborted) return stoppedByCaller(signal);
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const text = explain(code, error);
  // Certificates and TLS versions do not mend themselves.
  const final = FINAL.has(code) || /CERT|SIGNATURE|ERR_TLS|ERR_SSL/.test(code);
  return new PipelineError('unreachable', `${method} to ${url.host}: ${text}`, {
    retryable: !final,
    cause: error,
    ...(isUntrusted(code) ? { remedy: { kind: 'authority', host: url.host } } : {}),
    // What TLS says of a host that answers in plain HTTP.
    ...(code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER'
      ? { remedy: { kind: 'plain-http', host: url.host } }
      : {}),
  });
}

function isUntrusted(code: string): boolean {
  return /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/.test(code);
}

const EXPLAINED: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'temporary DNS failure',
  EPIPE: 'connection closed while sending',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
};

/** What OpenSSL found, without its own place in memory and sources. */
const OPENSSL = /:SSL routines:[^:]*:([^:\n]+)/;

/** What went wrong with a connection, in words. */
function explain(code: string, error: Error): string {
  const [, tls] = OPENSSL.exec(error.message) ?? [];
  if (tls !== undefined) return `TLS failed: ${tls}`;
  return Object.hasOwn(EXPLAINED, code)
    ? (EXPLAINED[code] ?? code)
    : error.message || code || 'connection broken';
}
