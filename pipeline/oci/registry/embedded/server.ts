/**
 * A registry over an OCI image layout: the OCI distribution API, version 2, with referrers.
 * For demonstrations, tests, and sites that were handed a directory.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { PipelineError } from '../../../error.ts';
import { isLoopback, limitConnections, namesThisMachine, oneAtATime } from '../../../server-limits.ts';
import { openLayout } from '../layout/layout.ts';
import { type AccessOptions, type Action, createGate } from './access.ts';
import { createMembers, type Registry, type RegistryRequest } from './members.ts';
import { listReferrers, listRepositories, listTags, pullBlob, pullManifest } from './pull.ts';
import { continueUpload, openUpload, pushManifest, removeBlob, removeManifest } from './push.ts';
import { type Reply, refusalReply, replyTo, writeReply } from './reply.ts';
import { type Route, routeOf } from './route.ts';
import { createUploads } from './uploads.ts';

export interface RegistryOptions {
  /** The layout; begun when it does not exist, unless the registry is read-only. */
  readonly directory: string;
  /** `127.0.0.1` when left out. */
  readonly host?: string;
  /** Any that is free when left out. */
  readonly port?: number;
  /** Under which name the layout's own repository, with its bare tags, is served; `catalog` when left out. */
  readonly root?: string;
  readonly readOnly?: boolean;
  /** Who may do what; everybody may do everything when left out. */
  readonly access?: AccessOptions;
  /** Key and certificate, PEM. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Whether existing tags are immutable; false by default. */
  readonly isImmutable?: (name: string, tag: string) => boolean;
  /** Whether manifest lists may name images that the repository does not have; they may not when left out. */
  readonly takesSparse?: boolean;
  /** The registry's address for clients, if it differs from the listening address: `https://registry.example`. */
  readonly url?: string;
  /**
   * Whether everybody may use the registry at an address other than loopback, where that is needed without `access`, and
   * under any name of a loopback address.
   */
  readonly openToAll?: boolean;
  /** Told of every request when its answer has gone out. */
  readonly onRequest?: (seen: SeenRequest) => void;
}

export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly status: number;
  /** Bytes of the request's body. */
  readonly received: number;
  /** Bytes of the answer's body. */
  readonly sent: number;
}

export interface RunningRegistry {
  /** `http://127.0.0.1:5000`. */
  readonly url: string;
  /** `127.0.0.1:5000`, as references name it. */
  readonly host: string;
  /** Ends connections and uploads under way. */
  close(): Promise<void>;
}

/** Bytes of a manifest at most: what the specification wants every registry to accept. */
const LARGEST_MANIFEST = 4 * 1024 * 1024;

/** Slowest body: from `after` ms on, so many bytes per ms on average. A large blob over a slow line may take hours. */
const SLOWEST = { after: 60_000, bytes: 0.1 };
/** Milliseconds for which an unread body may continue after the reply was sent. */
const UNREAD = 60_000;

/**
 * Starts a registry over an image layout.
 *
 * @throws PipelineError `not-found` or `usage` for a directory that is not a layout, `io` for a port that is taken
 */
export async function startRegistry(options: RegistryOptions): Promise<RunningRegistry> {
  refuseOpenRegistry(options);
  const layout = await openLayout(options.directory, {
    create: options.readOnly !== true,
    takesSparse: options.takesSparse === true,
    journaled: true,
  });
  const root = options.root ?? 'catalog';
  const uploads = createUploads(layout.blobs);
  // Filled in once the server listens, as the port may be any that is free.
  const address = { url: '' };
  const registry: Registry = {
    layout,
    members: createMembers(layout),
    uploads,
    gate: createGate(options.access, () => options.url ?? address.url),
    toLayout: (name) => (name === root ? '' : name),
    fromLayout: (repository) => (repository === '' ? root : repository),
    isImmutable: options.isImmutable ?? (() => false),
    takesSparse: options.takesSparse === true,
    largestManifest: LARGEST_MANIFEST,
  };
  const listener = oneAtATime((request, response) => {
    void serve(registry, options, { request, response });
  });
  const server = newServer(options, listener);
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  const name = options.host ?? '127.0.0.1';
  const host = `${name.includes(':') ? `[${name}]` : name}:${port}`;
  address.url = `${options.tls ? 'https' : 'http'}://${host}`;
  return {
    url: address.url,
    host,
    close: async () => {
      await new Promise((done) => {
        server.close(done);
        server.closeAllConnections();
      });
      await uploads.close();
      if (options.readOnly !== true) await layout.close();
    },
  };
}

/** A registry without accounts serves only this machine, unless its owner allows others. */
function refuseOpenRegistry({ host = '127.0.0.1', access, openToAll }: RegistryOptions): void {
  if (isLoopback(host) || access !== undefined || openToAll === true) return;
  const message = `refusing to listen on ${host} without accounts: everybody who can connect could pull and push`;
  throw new PipelineError('usage', message, { hint: 'use --htpasswd FILE, or --open-to-all to allow it' });
}

/** The HTTP server, with limits for clients that are slow or that open very many connections. */
function newServer({ tls }: RegistryOptions, listener: RequestListener): Server {
  // By default Node looks for slow requests only every 30 s.
  // Times below are in milliseconds.
  const timing = { headersTimeout: 20_000, connectionsCheckingInterval: 1000 };
  const server = tls ? createSecureServer({ ...tls, ...timing }, listener) : createServer(timing, listener);
  limitConnections(server, { total: 2000, perAddress: 250, beyond: 'replace-waiting' });
  // Not for the body, which `SLOWEST` limits; silence ends sooner.
  server.requestTimeout = 0;
  server.timeout = 120_000;
  server.keepAliveTimeout = 60_000;
  return server;
}

/** Waits until the server listens. @throws PipelineError `io` for a port that is taken */
function listen(server: Server, { port = 0, host = '127.0.0.1' }: RegistryOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new PipelineError('io', `cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
    );
    server.listen(port, host, resolve);
  });
}

/** Answers one request. A sender that is too slow is cut off. */
async function serve(
  registry: Registry,
  options: RegistryOptions,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  let received = 0;
  const body = (async function* counted() {
    const began = Date.now();
    // Not destroyed when reading ends early: the answer goes out over the same connection.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      received += chunk.length;
      const elapsed = Date.now() - began;
      if (elapsed > SLOWEST.after && received < elapsed * SLOWEST.bytes) request.destroy();
      yield chunk;
    }
  })();
  response.setHeader('docker-distribution-api-version', 'registry/2.0');
  const method = request.method ?? '';
  const reply = await answer(registry, options, { request, body });
  // The unread rest of a body must not be read as the next request.
  if (!request.readableEnded && request.headers['content-length'] !== '0') discard(request);
  const sent = await writeReply(response, reply, method !== 'HEAD').catch(() => {
    // A head that cannot be written. One request must not end the process.
    response.destroy();
    return 0;
  });
  options.onRequest?.({ method, url: request.url ?? '', status: reply.status, received, sent });
}

/** Reads the rest of a body, for a limited time. */
function discard(request: IncomingMessage): void {
  // A stopped registry does not wait for it.
  const end = setTimeout(() => request.socket.destroy(), UNREAD).unref();
  request.once('close', () => clearTimeout(end)).resume();
}

/** The reply to a request. No error leaves it: each becomes a reply. */
async function answer(
  registry: Registry,
  options: RegistryOptions,
  raw: Omit<RegistryRequest, 'query'>,
): Promise<Reply> {
  const [path = '', query = ''] = (raw.request.url ?? '').split('?', 2);
  const call: RegistryRequest = { ...raw, query: new URLSearchParams(query) };
  const routed = routeOf(path);
  if ('reply' in routed) return routed.reply;
  try {
    return await dispatch(registry, options, { route: routed.route, call });
  } catch (error) {
    // A client that went away gets no answer; what it had sent of an upload stays.
    const isGone = !(error instanceof PipelineError) && !raw.request.complete;
    if (isGone) return refusalReply(400, 'BLOB_UPLOAD_INVALID', 'the request was interrupted');
    return error instanceof PipelineError ? replyTo(error) : refusalReply(500, 'UNKNOWN', 'internal error');
  }
}

/** Checks that a request is allowed, then runs its handler. */
async function dispatch(
  registry: Registry,
  options: RegistryOptions,
  { route, call }: { route: Route; call: RegistryRequest },
): Promise<Reply> {
  const unknown = refusalReply(404, 'NAME_UNKNOWN', 'not found');
  // Before all checks: whoever asks for a token has no proof yet but a password, which `token` checks.
  if (route.kind === 'token') return (await registry.gate.token(call.request, call.query)) ?? unknown;
  if (isUnderForeignName(options, call.request))
    return refusalReply(403, 'DENIED', 'address this registry as localhost, or start it with --open-to-all');
  const method = call.request.method === 'HEAD' ? 'GET' : (call.request.method ?? '');
  const action = actionOf(method, route);
  if (action !== 'pull' && isFromPage(call.request))
    return refusalReply(403, 'DENIED', 'pages in a browser cannot write to this registry');
  const repository = 'name' in route ? { repository: route.name } : {};
  const listsAll = route.kind === 'catalog';
  const denied = await registry.gate.check(call.request, { ...repository, action, listsAll });
  if (denied) return denied;
  if (options.readOnly && action !== 'pull')
    return refusalReply(405, 'UNSUPPORTED', 'this registry is read-only');
  const run = HANDLERS[`${method} ${route.kind}`];
  return run?.(registry, route, call) ?? refusalReply(405, 'UNSUPPORTED', `${method} is not allowed here`);
}

/**
 * Whether a page in a browser sent a request: clients of registries send no such header, and browsers send it with all
 * that writes. A page of anybody reaches the loopback addresses of the machine that shows it.
 */
function isFromPage({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined;
}

/** Whether a request that needs no account names another machine than this one; a certificate proves the name already. */
function isUnderForeignName(
  { host = '127.0.0.1', access, openToAll, tls }: RegistryOptions,
  request: IncomingMessage,
): boolean {
  const isAnonymous = access === undefined || (access.kind === 'basic' && access.anonymousPull);
  if (tls || !isAnonymous || openToAll === true) return false;
  return isLoopback(host) && !namesThisMachine(request);
}

/** The permission that a request needs: an upload needs `push` even to ask how far it got. */
function actionOf(method: string, { kind }: Route): Action {
  if (kind === 'upload' || kind === 'uploads') return 'push';
  if (method === 'DELETE') return 'delete';
  return method === 'GET' ? 'pull' : 'push';
}

type Handler = (registry: Registry, route: Route, call: RegistryRequest) => Reply | Promise<Reply>;

/** A handler for routes of one kind, callable with any: the table's key says the kind. */
function on<K extends Route['kind']>(
  run: (registry: Registry, route: Extract<Route, { kind: K }>, call: RegistryRequest) => Promise<Reply>,
): Handler {
  return run as Handler;
}

const HANDLERS: Readonly<Record<string, Handler>> = {
  'GET greeting': () => ({ status: 200, headers: { 'content-type': 'application/json' } }),
  'GET catalog': (registry, _, call) => listRepositories(registry, call),
  'GET tags': on(listTags),
  'GET blob': on(pullBlob),
  'DELETE blob': on(removeBlob),
  'GET manifest': on(pullManifest),
  'PUT manifest': on(pushManifest),
  'DELETE manifest': on(removeManifest),
  'GET referrers': on(listReferrers),
  'POST uploads': on(openUpload),
  'GET upload': on(continueUpload),
  'PATCH upload': on(continueUpload),
  'PUT upload': on(continueUpload),
  'DELETE upload': on(continueUpload),
};
