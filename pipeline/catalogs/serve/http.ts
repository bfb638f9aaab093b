/**
 * catalogd's HTTP API for OLM v1: all blobs of a catalog, or those of a schema, package or name,
 * as lines of JSON.
 *
 * @see https://github.com/operator-framework/operator-controller/blob/main/internal/catalogd/server/handlers.go
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Blob } from '../../../catalog/fbc/model.ts';
import { onceFor } from '../../../catalog/go/once.ts';
import { type MetaQuery, metaLines } from '../../../catalog/opm/serve/metas.ts';
import { PipelineError } from '../../error.ts';
import { byteRange } from '../../oci/byte-range.ts';
import {
  isLoopback,
  type Listening,
  limitConnections,
  namesThisMachine,
  oneAtATime,
} from '../../server-limits.ts';

/** A catalog as it is served. */
interface ServedCatalog {
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
  const listener = oneAtATime((request, response) => {
    if (isLoopback(host) && !namesThisMachine(request))
      return refuse(response, 403, 'address this server as localhost');
    // A reader that goes away in the middle is none of our defects.
    answer(catalog, request, response).catch(() => response.destroy());
  });
  // Times are in ms. By default, Node looks for requests that take too long only every 30 s.
  const server = createServer({ connectionsCheckingInterval: 1000 }, listener);
  server.headersTimeout = 10_000;
  server.requestTimeout = 25_000;
  // A reader who takes nothing for so long is gone.
  server.timeout = 120_000;
  limitConnections(server, { total: 1000, perAddress: 100, beyond: 'replace-waiting' });
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

/** Listens on an address. @throws PipelineError `io` for one that is taken or not of this machine */
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

/** Answers as catalogd does, with its texts for errors. */
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
  return sendLines(catalog, queryOf(parameters), { request, response, isWhole: kind !== 'metas' });
}

/** Which blobs a request asks for; a parameter that is empty or absent selects all, and of several the first counts. */
function queryOf(parameters: URLSearchParams): MetaQuery {
  const first = (key: string): string => parameters.get(key) ?? '';
  return { schema: first('schema'), package: first('package'), name: first('name') };
}

/** Answers with an error, in headers and text as Go's `http.Error`, which catalogd uses. */
function refuse(response: ServerResponse, code: number, message: string): void {
  response.writeHead(code, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
  response.end(`${message}\n`);
}

/** Sends the blobs that a query asks for as JSON lines: compressed, in a range, or only the headers, as asked. */
async function sendLines(
  catalog: ServedCatalog,
  query: MetaQuery,
  { request, response, isWhole }: HttpCall,
): Promise<void> {
  const { blobs, version, since } = catalog;
  const zipped = takesGzip(request.headers['accept-encoding']);
  // Bytes that differ have tags that differ.
  const etag = `"${version}${zipped ? '-gzip' : ''}"`;
  response.setHeader('etag', etag);
  response.setHeader('last-modified', since.toUTCString());
  response.setHeader('vary', 'Accept-Encoding');
  const status = conditionalStatus(request.headers, etag, since);
  if (status !== 200) {
    response.writeHead(status).end();
    return;
  }
  response.setHeader('content-type', 'application/jsonl');
  const lines = batchedLines(metaLines(blobs, query));
  if (zipped) {
    response.setHeader('content-encoding', 'gzip');
    if (request.method === 'HEAD') response.end();
    else await pipeline(Readable.from(lines), createGzip(), response);
    return;
  }
  // catalogd serves the whole catalog as a file, with its length and ranges, and what it selects as a stream.
  const range = isWhole
    ? wholeRange(request, { size: sizeOf(catalog), etag, since }, response)
    : [0, Infinity];
  if (range === undefined || request.method === 'HEAD') response.end();
  else await pipeline(Readable.from(within(lines, range)), response);
}

interface HttpCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the whole catalog is asked for, by the path that says so. */
  readonly isWhole: boolean;
}

/** Bytes of all lines. */
const sizeOf = onceFor(({ blobs }: ServedCatalog): number => {
  let size = 0;
  for (const line of metaLines(blobs, EVERYTHING)) size += Buffer.byteLength(line);
  return size;
});

const EVERYTHING: MetaQuery = { schema: '', package: '', name: '' };

/** Writes the head of an answer with the whole catalog or a part of it; undefined for a part that it does not have. */
function wholeRange(
  { headers }: IncomingMessage,
  { size, etag, since }: { readonly size: number; readonly etag: string; readonly since: Date },
  response: ServerResponse,
): readonly [number, number] | undefined {
  response.setHeader('accept-ranges', 'bytes');
  const condition = headers['if-range'];
  const isSame = condition === undefined || condition === etag || condition === since.toUTCString();
  const range = isSame ? byteRange(headers.range, size) : undefined;
  if (range === 'outside') {
    response.removeHeader('content-type');
    response.writeHead(416, { 'content-range': `bytes */${size}`, 'content-length': 0 });
    return undefined;
  }
  const [start, end] = range ?? [0, size];
  const part = range && { 'content-range': `bytes ${start}-${end - 1}/${size}` };
  response.writeHead(range ? 206 : 200, { 'content-length': end - start, ...part });
  return [start, end];
}

/** The bytes from `start` up to but not with `end`. */
function* within(batches: Iterable<Buffer>, [start = 0, end = 0]: readonly number[]): Generator<Buffer> {
  let at = 0;
  for (const batch of batches) {
    if (at >= end) return;
    const from = Math.max(0, start - at);
    if (from < batch.length) yield batch.subarray(from, Math.min(batch.length, end - at));
    at += batch.length;
  }
}

/**
 * Whether a client takes an answer compressed by gzip. What it says of all codings (`*`) is not said of those that it
 * names: `gzip;q=0, *` refuses gzip. A weight of 0 refuses a coding.
 */
function takesGzip(header: string | string[] | undefined): boolean {
  const codings = String(header ?? '').split(',');
  const named = codings.filter((coding) => /^\s*gzip\s*(?:;|$)/i.test(coding));
  return (named.length > 0 ? named : codings).some((coding) =>
    /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding),
  );
}

/**
 * What the conditions of a request make of it: 200 to go on, 304 when the reader has these very bytes, 412 when the reader
 * wants others. Dates count only where no tag is sent.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-13.2.2
 */
function conditionalStatus(headers: IncomingHttpHeaders, etag: string, since: Date): 200 | 304 | 412 {
  const seconds = Math.floor(since.getTime() / 1000) * 1000;
  const wanted = headers['if-match'];
  // Without a valid date this is NaN, with which no comparison holds.
  const until = Date.parse(headers['if-unmodified-since'] ?? '');
  if (wanted === undefined ? seconds > until : !listsTag(wanted, etag)) return 412;
  const known = headers['if-none-match'];
  // Here a tag counts as the same whether it is weak (`W/`) or not.
  if (known !== undefined) return listsTag(known.replaceAll('W/', ''), etag) ? 304 : 200;
  return seconds <= Date.parse(headers['if-modified-since'] ?? '') ? 304 : 200;
}

/** Whether a list of tags has this one, or `*` for any. */
function listsTag(list: string, etag: string): boolean {
  return list.split(',').some((tag) => ['*', etag].includes(tag.trim()));
}

/** Characters that are collected before they are sent. */
const BATCH = 1 << 16;

/** The lines as bytes, in chunks of at least {@link BATCH} characters but for the last. */
function* batchedLines(lines: Iterable<string>): Generator<Buffer> {
  let batch = '';
  for (const line of lines) {
    batch += line;
    if (batch.length < BATCH) continue;
    yield Buffer.from(batch);
    batch = '';
  }
  if (batch !== '') yield Buffer.from(batch);
}
