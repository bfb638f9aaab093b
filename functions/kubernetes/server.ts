/** HTTP servers of the host's processes: webhooks and jobs on one port, probes and metrics on another. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createRoom, limitConnections, oneAtATime } from '../../pipeline/server-limits.ts';

interface RouteRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body's bytes, as they came. */
  readonly body: Uint8Array;
}

export interface RouteReply {
  readonly status: number;
  readonly body: string;
  /** Plain text when left out. */
  readonly type?: 'application/json' | 'text/plain';
}

/** By `METHOD PATH`; a query is not looked at. */
export type Routes = Readonly<Record<string, (asked: RouteRequest) => Promise<RouteReply>>>;

export interface RunningServer {
  readonly port: number;
  /** Takes no more requests, and waits up to so many ms for those that are being answered. */
  stop(patience: number): Promise<void>;
}

/** Bytes of a body at most: what is larger is refused before it has come. */
const LARGEST = 6 * 1024 * 1024;
/** Bytes of all bodies that have not been answered: who sends slowly must not fill the memory. */
const MOST_HELD = 64 * 1024 * 1024;

/** What the server takes upon itself; times in ms. */
export interface ServerLimits {
  /** Until the head of a request has come. */
  readonly head: number;
  /** Until all of a request has come. */
  readonly request: number;
  /** Connections at once. */
  readonly connections: number;
  /** Connections at once from one address, which may be a router's. */
  readonly perAddress: number;
}

/** Webhooks and probes are small and quick: what takes longer keeps others out. */
const LIMITS: ServerLimits = { head: 10_000, request: 25_000, connections: 1000, perAddress: 250 };

/** Starts an HTTP server for these routes. @param log called with what no route expects */
export async function serveRoutes(
  port: number,
  routes: Routes,
  log: (line: string) => void,
  limits: ServerLimits = LIMITS,
): Promise<RunningServer> {
  const room = createRoom(MOST_HELD);
  const server = createServer(
    {
      requestTimeout: limits.request,
      headersTimeout: limits.head,
      // Node looks for requests that take too long only so often: every 30 s when left out.
      connectionsCheckingInterval: Math.min(1000, limits.head),
    },
    oneAtATime(async (request, response) => {
      const answer = (status: number, body: string, type = 'text/plain'): void => {
        response.writeHead(status, {
          'content-type': `${type}; charset=utf-8`,
          'content-length': Buffer.byteLength(body),
          'x-content-type-options': 'nosniff',
          // A connection that goes on would keep a process that stops.
          ...(server.listening ? {} : { connection: 'close' }),
        });
        response.end(body);
      };
      // What this request holds of the room for bodies.
      const own = { bytes: 0, end: () => request.destroy() };
      try {
        const route = routes[`${request.method} ${(request.url ?? '').split('?')[0]}`];
        if (!route) return answer(404, 'nothing is here\n');
        const body = await bodyOf(request, (bytes) => {
          const hasRoom = room.hold(own, own.bytes + bytes);
          if (own.bytes > LARGEST) return 413;
          return hasRoom ? undefined : 503;
        });
        room.keep(own);
        if (body === 413) return answer(413, 'the body is too large\n');
        if (body === 503) return answer(503, 'try again later\n');
        const headers = request.headers as RouteRequest['headers'];
        const { status, body: text, type } = await route({ headers, body });
        answer(status, text, type);
      } catch (error) {
        // Whoever hung up gets no answer, and must not fill the log.
        if (request.destroyed && !request.complete) return;
        log(
          `cannot answer ${request.method} ${request.url}: ${error instanceof Error ? error.message : String(error)}`,
        );
        // Whoever sent it sends it again; why, only the log says.
        if (!response.headersSent) answer(503, 'try again later\n');
      } finally {
        room.free(own);
      }
    }),
  );
  // A reader who takes nothing of an answer for so long is gone.
  server.timeout = 120_000;
  limitConnections(server, {
    total: limits.connections,
    perAddress: limits.perAddress,
    beyond: 'replace',
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    stop: (patience) => stopServer(server, patience),
  };
}

/**
 * Reads the body of a request.
 *
 * @param refusal gets the bytes of each piece; says with which status the body is refused, if it is
 * @returns that status; the rest of the body is not read then
 */
async function bodyOf<T extends number>(
  request: IncomingMessage,
  refusal: (bytes: number) => T | undefined,
): Promise<Uint8Array | T> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) {
    const status = refusal(chunk.length);
    if (status !== undefined) return status;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Takes no more requests, and closes connections that are still answered after so many ms. */
function stopServer(server: Server, patience: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), patience);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
