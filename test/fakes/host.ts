/** HTTP hosts that answer as a test says, and keep what they were asked. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  type ClientOptions,
  createRegistryClient,
  type RegistryClient,
} from '../../pipeline/oci/registry/client.ts';
import type { Certificate } from './certificate.ts';

export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface Host {
  /** `127.0.0.1:PORT`, as it stands in references. */
  readonly host: string;
  readonly url: string;
  /** In the order in which the requests came. */
  readonly asked: readonly Asked[];
}

/** Answers one request; what it leaves open stays open. */
export type Respond = (request: Asked, response: ServerResponse) => void;

/** What a fake answers to a request, `GET /path`, in place of the value that it would answer. */
export type Bend = (what: string, value: unknown) => unknown;

/** Starts a host that goes away with the test. */
export async function startHost(respond: Respond, tls?: Certificate): Promise<Host> {
  const asked: Asked[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers, body: Buffer.concat(chunks) };
    asked.push(seen);
    respond(seen, response);
  };
  const server = tls ? createSecureServer({ ...tls }, listener) : createServer(listener);
  const host = await listen(server);
  return { host, url: `${tls ? 'https' : 'http'}://${host}`, asked };
}

/** Listens on a free port of loopback until the test ends. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends an answer whole. */
export function reply(
  response: ServerResponse,
  status: number,
  body: string | Uint8Array = '',
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): void {
  response.writeHead(status, {
    'content-length': Buffer.byteLength(body),
    ...(headers as Record<string, string>),
  });
  response.end(body);
}

/** A client for hosts of the test, quick to give up, closed with the test. */
export function testClient(hosts: readonly string[], options: ClientOptions = {}): RegistryClient {
  const client = createRegistryClient({
    internal: ['127.0.0.0/8'],
    plainHttp: hosts,
    ...options,
    retry: { budget: 12_000, attempts: 4, firstWait: 2, longestWait: 10, ...options.retry },
    timeouts: { silence: 4000, answer: 4000, pause: 1000, ...options.timeouts },
  });
  onTestFinished(client.close);
  return client;
}
