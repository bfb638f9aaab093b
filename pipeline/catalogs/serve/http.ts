/**
 * catalogd's HTTP API for OLM v1: all blobs of a catalog, or those of a schema, package or name,
 * as lines of JSON.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/catalogd/server/handlers.go
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Blob } from '../../../catalog/fbc/model.ts';
import { type MetaQuery, metaLines } from '../../../catalog/opm/serve/metas.ts';
import { PipelineError } from '../../error.ts';
import type { Listening } from './listening.ts';

/** A catalog as it is served. */
export interface ServedCatalog {
  /** Under which it is asked for. */
  readonly name: string;
  /** In the order of reading. */
  readonly blobs: readonly Blob[];
  /** The same for the same content. */
  readonly version: string;
  /** Since when it is served. */
  readonly since: Date;
}

/**
 * Serves a catalog until it is closed.
 *
 * @throws PipelineError `io` when the address cannot be listened on
 */
export async function serveHttp(
  catalog: ServedCatalog,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const server = createServer((request, response) => {
    // A reader that goes away in the middle is none of our defects.
    answer(catalog, request, response).catch(() => response.destroy());
  });
  await listen(server, host, port);
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new PipelineError('io', `cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
    );
    server.listen(port, host, resolve);
  });
}

/** `all.json` is the path of catalogd in OpenShift 4.17. */
const ROUTE = /^\/catalogs\/([^/]+)\/(?:api\/v1\/(all|metas)|(all\.json))$/;
/** A name that Kubernetes takes for a ClusterCatalog. */
const CATALOG_NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const PARAMETERS: ReadonlySet<string> = new Set(['schema', 'package', 'name']);

async function answer(
  catalog: ServedCatalog,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '', search = ''] = (request.url ?? '').split('?', 2);
  const [, name = '', kind, older] = ROUTE.exec(path) ?? [];
  if (kind === undefined && older === undefined) return refuse(response, 404, '404 page not found');
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refuse(response, 405, 'Method Not Allowed');
  if (!CATALOG_NAME.test(name)) return refuse(response, 400, 'invalid catalog name');
  if (name !== catalog.name) return refuse(response, 404, '404 Not Found');
  const parameters = new URLSearchParams(kind === 'metas' ? search : '');
  if ([...parameters.keys()].some((key) => !PARAMETERS.has(key)))
    return refuse(response, 400, '400 Bad Request');
  return sendLines(catalog, queryOf(parameters), { request, response });
}

function queryOf(parameters: URLSearchParams): MetaQuery {
  const first = (key: string): string => parameters.get(key) ?? '';
  return { schema: first('schema'), package: first('package'), name: first('name') };
}

function refuse(response: ServerResponse, code: number, message: string): void {
  response.writeHead(code, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  response.end(`${message}\n`);
}

async function sendLines(
  { blobs, version, since }: ServedCatalog,
  query: MetaQuery,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const zipped = takesGzip(request.headers['accept-encoding']);
  // Bytes that differ have tags that differ.
  const etag = `"${version}${zipped ? '-gzip' : ''}"`;
  response.setHeader('etag', etag);
  response.setHeader('last-modified', since.toUTCString());
  response.setHeader('vary', 'Accept-Encoding');
  if (isKnown(request, etag, since)) {
    response.writeHead(304).end();
    return;
  }
  response.setHeader('content-type', 'application/jsonl');
  if (zipped) response.setHeader('content-encoding', 'gzip');
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const lines = Readable.from(batched(metaLines(blobs, query)));
  if (zipped) await pipeline(lines, createGzip(), response);
  else await pipeline(lines, response);
}

function takesGzip(header: string | string[] | undefined): boolean {
  return String(header ?? '')
    .split(',')
    .some((coding) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}

/** Whether the reader has these very bytes; a date counts only where no tag is sent. */
function isKnown({ headers }: IncomingMessage, etag: string, since: Date): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) {
    return tags.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
  }
  const date = Date.parse(headers['if-modified-since'] ?? '');
  return !Number.isNaN(date) && Math.floor(since.getTime() / 1000) * 1000 <= date;
}

/** Characters that are collected before they are sent. */
const BATCH = 1 << 16;

function* batched(lines: Iterable<string>): Generator<Buffer> {
  let batch = '';
  for (const line of lines) {
    batch += line;
    if (batch.length < BATCH) continue;
    yield Buffer.from(batch);
    batch = '';
  }
  if (batch !== '') yield Buffer.from(batch);
}
