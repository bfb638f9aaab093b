/**
 * A gRPC server over HTTP/2 for answers that are bytes already: a method gives frames, and the server writes them as fast as
 * they are taken. What it does not do: TLS, and compressed answers.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Server } from 'node:net';
import { PipelineError } from '../../error.ts';
import { createRoom, type Listening, limitConnections, type Room } from '../../server-limits.ts';
import { GrpcFailure, MessageReader, Status } from './grpc-messages.ts';

export interface GrpcMethod {
  /**
   * The answer to one message, as frames; a chunk may hold any number of them. What it throws ends the call: a GrpcFailure as
   * it says, anything else as INTERNAL.
   */
  answer(message: Buffer, headers: IncomingHttpHeaders): Iterable<Uint8Array>;
  /** Whether a call may send more than one message, each answered after the one before. */
  readonly takesMany?: boolean;
}

/** Methods by path, such as `/api.Registry/ListBundles`. */
export type GrpcMethods = ReadonlyMap<string, GrpcMethod>;

/** Milliseconds that calls have to end when the server is closed. */
const GRACE = 2000;

/** What a server takes upon itself; times are in milliseconds. */
export interface GrpcLimits {
  /** Connections at once; further ones are closed. */
  readonly connections: number;
  /** Connections at once from one address; further ones are closed. */
  readonly perAddress: number;
  /** Calls at once on one connection; a client makes further ones wait. */
  readonly calls: number;
  /** Until a connection has begun to speak HTTP/2. */
  readonly handshake: number;
  /** Between two pings of a connection. */
  readonly pingAfter: number;
  /** Until a ping is answered. */
  readonly pingTimeout: number;
  /** Until a call has sent its message, or its next one. */
  readonly message: number;
  /** Without a byte of a call in either direction. */
  readonly stalled: number;
  /** Bytes of all messages that are not complete. */
  readonly unfinished: number;
}

/**
 * The times are those of grpc-go's server, which `opm serve` uses; it limits neither connections nor calls. 250 calls are
 * the limit of Go's HTTP/2 server. A cluster has a handful of connections to a catalog.
 *
 * @see https://pkg.go.dev/google.golang.org/grpc/keepalive#ServerParameters
 * @see https://pkg.go.dev/golang.org/x/net/http2#Server
 */
export const GRPC_LIMITS: GrpcLimits = {
  connections: 1000,
  perAddress: 100,
  calls: 250,
  handshake: 120_000,
  pingAfter: 7_200_000,
  pingTimeout: 20_000,
  message: 30_000,
  stalled: 120_000,
  unfinished: 64 * 1024 * 1024,
};

/** Milliseconds without a byte after which the kernel asks whether a peer is there still, as Go's listeners do. */
const TCP_KEEPALIVE = 15_000;

/** Options of the listener below HTTP/2, which Node's types do not name. */
const KEPT_ALIVE: object = { keepAlive: true, keepAliveInitialDelay: TCP_KEEPALIVE };

/**
 * Serves methods until it is closed.
 *
 * @throws PipelineError `io` when the address cannot be listened on
 */
export async function listenGrpc(
  methods: GrpcMethods,
  { host, port }: { readonly host: string; readonly port: number },
  limits: GrpcLimits = GRPC_LIMITS,
): Promise<Listening> {
  const server = createServer({
    // Readers of one answer wait for the same bytes; Node would count them for each, and refuse further calls.
    maxSessionMemory: Number.MAX_SAFE_INTEGER,
    settings: { maxConcurrentStreams: limits.calls },
    ...KEPT_ALIVE,
  });
  const { connections: total, perAddress } = limits;
  limitConnections(server as unknown as Server, { total, perAddress, beyond: 'refuse' });
  const room = createRoom(limits.unfinished);
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    // A connection that breaks is none of our defects.
    session.on('error', () => {});
    endWhenGone(session, limits);
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    // A reader that goes away in the middle is none of our defects.
    stream.on('error', () => {});
    stream.setTimeout(limits.stalled, () => stream.close(constants.NGHTTP2_CANCEL));
    takeCall(methods, { stream, headers, limits, room });
  });
  await bind(server, host, port);
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        // Calls that are under way may end by themselves, but not go on for ever.
        const impatient = setTimeout(() => {
          for (const session of sessions) session.destroy();
        }, GRACE);
        server.close(() => {
          clearTimeout(impatient);
          resolve();
        });
        for (const session of sessions) session.close();
      }),
  };
}

/** Ends a connection that does not speak HTTP/2, or answers no ping. */
function endWhenGone(session: ServerHttp2Session, { handshake, pingAfter, pingTimeout }: GrpcLimits): void {
  const silent = setTimeout(() => session.destroy(), handshake);
  session.once('remoteSettings', () => clearTimeout(silent));
  let unanswered: NodeJS.Timeout | undefined;
  const asking = setInterval(() => {
    if (unanswered || session.closed || session.destroyed) return;
    unanswered = setTimeout(() => session.destroy(), pingTimeout);
    session.ping(() => {
      clearTimeout(unanswered);
      unanswered = undefined;
    });
  }, pingAfter);
  session.once('close', () => {
    for (const timer of [silent, asking, unanswered]) clearTimeout(timer);
  });
}

/** Listens on an address. @throws PipelineError `io` for one that is taken or not of this machine */
function bind(server: Http2Server, host: string, port: number): Promise<void> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new PipelineError('io', `cannot listen on ${address}: ${cause.message}`, { cause })),
    );
    server.listen(port, host, resolve);
  });
}

interface GrpcCall {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly limits: GrpcLimits;
  readonly room: Room;
}

/** Starts to answer a call, or ends it if it is not one of gRPC or of a known method. */
function takeCall(methods: GrpcMethods, { stream, headers, limits, room }: GrpcCall): void {
  const status = httpStatus(headers);
  if (status !== 200) {
    stream.respond({ ':status': status }, { endStream: true });
    return;
  }
  const call = new Call(stream);
  const { ':path': path = '', 'grpc-timeout': timeout } = headers;
  const method = methods.get(path);
  const milliseconds = timeoutOf(timeout);
  if (milliseconds === undefined) call.end(Status.internal, 'malformed grpc-timeout');
  else if (!method) call.end(Status.unimplemented, unknownText(methods, path));
  else {
    call.endBy(milliseconds);
    answerMessages(call, method, { headers, patience: limits.message, room });
  }
}

/** The HTTP status of a request: 200 for one of gRPC, as its protocol wants for all calls, even those that fail. */
function httpStatus({ ':method': verb, 'content-type': type = '' }: IncomingHttpHeaders): 200 | 405 | 415 {
  if (verb !== 'POST') return 405;
  return /^application\/grpc([+;]|$)/.test(type) ? 200 : 415;
}

/** What is wrong with the path of a call, in the words of grpc-go. */
function unknownText(methods: GrpcMethods, path: string): string {
  const [, service = '', name = ''] = /^\/(.*)\/([^/]*)$/.exec(path) ?? [];
  const isKnown = [...methods.keys()].some((known) => known.startsWith(`/${service}/`));
  return isKnown ? `unknown method ${name} for service ${service}` : `unknown service ${service}`;
}

/** Milliseconds in a unit of `grpc-timeout`. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** The `grpc-timeout` of a call in milliseconds; Infinity when there is none, undefined when it is malformed. */
function timeoutOf(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return Infinity;
  const [, count, unit = ''] = /^([0-9]{1,8})([HMSmun])$/.exec(String(header)) ?? [];
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? 0);
}

/**
 * Answers the messages of a call one by one. While a message is answered, the stream is paused, so a client cannot fill
 * the memory.
 */
function answerMessages(
  call: Call,
  method: GrpcMethod,
  {
    headers,
    patience,
    room,
  }: { readonly headers: IncomingHttpHeaders; readonly patience: number; readonly room: Room },
): void {
  const { stream } = call;
  const reader = new MessageReader(String(headers['grpc-encoding'] ?? 'identity'));
  const fail = (error: unknown): void => {
    const isKnown = error instanceof GrpcFailure;
    call.end(isKnown ? error.status : Status.internal, isKnown ? error.message : 'cannot read the catalog');
  };
  const waiting = timerOf(patience, () => call.end(Status.deadlineExceeded, 'no message came in time'));
  // What the call has in the room, and how it ends without it. Clients take this reset for `resourceExhausted`.
  const own = { bytes: 0, end: () => stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM) };
  const answerAll = async (chunk: Buffer): Promise<void> => {
    reader.add(chunk);
    for (let message = reader.next(); message && !call.isOver; message = reader.next()) {
      waiting.stop();
      await call.send(method.answer(message, headers));
      waiting.start();
      if (!method.takesMany) call.end(Status.ok);
    }
    // All calls share the room for messages that are not complete; without room, the largest of them ends its call.
    if (!call.isOver && !room.hold(own, reader.left)) own.end();
  };
  stream.on('close', () => {
    waiting.stop();
    room.free(own);
  });
  let answering = Promise.resolve();
  stream.on('data', (chunk: Buffer) => {
    if (call.isOver) return;
    stream.pause();
    answering = answerAll(chunk).then(() => void stream.resume(), fail);
  });
  stream.on('end', async () => {
    // The last message may still be on its way out.
    await answering;
    if (call.isOver) return;
    if (method.takesMany && reader.left === 0) call.end(Status.ok);
    else call.end(Status.internal, 'the request ends in the middle of a message');
  });
}

/** A timer that runs, and can be stopped and started anew. */
function timerOf(milliseconds: number, run: () => void): { start(): void; stop(): void } {
  let timer = setTimeout(run, milliseconds).unref();
  const stop = (): void => clearTimeout(timer);
  const start = (): void => {
    stop();
    timer = setTimeout(run, milliseconds).unref();
  };
  return { start, stop };
}

/** Longest wait of a timer, in ms: Node runs one with a longer wait at once. */
const LONGEST_WAIT = 2 ** 31 - 1;

/** The answering side of a call. */
class Call {
  readonly stream: ServerHttp2Stream;
  #isOver = false;

  constructor(stream: ServerHttp2Stream) {
    this.stream = stream;
  }

  /** Whether its status is sent, or nobody waits for it. */
  get isOver(): boolean {
    return this.#isOver || this.stream.closed || this.stream.destroyed;
  }

  /** Ends the call when its time is over. */
  endBy(milliseconds: number): void {
    // So long a time, of weeks, is as good as no limit.
    if (milliseconds > LONGEST_WAIT) return;
    const timer = setTimeout(() => {
      if (this.isOver) return;
      this.end(Status.deadlineExceeded, 'context deadline exceeded');
      // The status comes behind bytes that the client does not take: it is told by a reset instead.
      if (this.stream.writableLength > 0) this.stream.close(constants.NGHTTP2_CANCEL);
    }, milliseconds);
    this.stream.on('close', () => clearTimeout(timer));
  }

  /** Writes frames as fast as they are taken: a catalog may be larger than what a slow reader lets wait. */
  async send(frames: Iterable<Uint8Array>): Promise<void> {
    for (const chunk of frames) {
      if (this.isOver) return;
      this.#begin();
      if (!this.stream.write(chunk)) await this.#drained();
    }
  }

  /** Ends the call, once. A call that has no answer is ended by its headers. */
  end(status: Status, message = ''): void {
    if (this.isOver) return;
    this.#isOver = true;
    const trailers = {
      'grpc-status': String(status),
      ...(message === '' ? {} : { 'grpc-message': percentEncoded(message) }),
    };
    if (!this.stream.headersSent && status !== Status.ok) {
      this.stream.respond({ ...HEADERS, ...trailers }, { endStream: true });
      this.#dismiss();
      return;
    }
    this.#begin();
    this.stream.once('wantTrailers', () => {
      this.stream.sendTrailers(trailers);
      this.#dismiss();
    });
    this.stream.end();
  }

  /** Tells a client that would send more that nobody reads it. */
  #dismiss(): void {
    if (!this.stream.readableEnded) this.stream.close(constants.NGHTTP2_NO_ERROR);
  }

  /** Sends the headers, once. The status follows in the trailers. */
  #begin(): void {
    if (!this.stream.headersSent) this.stream.respond(HEADERS, { waitForTrailers: true });
  }

  /** Waits for room in the buffer of the stream; a stream that is closed meanwhile ends the wait, too. */
  #drained(): Promise<void> {
    const { stream } = this;
    return new Promise((resolve) => {
      const goOn = (): void => {
        stream.off('drain', goOn);
        stream.off('close', goOn);
        resolve();
      };
      stream.on('drain', goOn);
      stream.on('close', goOn);
    });
  }
}

const HEADERS = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-accept-encoding': 'identity,gzip,deflate',
};

/** A status message as a header has it: what is not printable ASCII, and `%`, byte by byte as `%XX`. */
function percentEncoded(message: string): string {
  return Buffer.from(message.toWellFormed())
    .toString('latin1')
    .replaceAll(/[^ -$&-~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}
