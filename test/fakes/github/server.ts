/**
 * GitHub on loopback: its API as its own description has it, and repositories over smart HTTP. Every
 * request and every answer is judged by the description; what it does not allow is kept as a defect, which
 * ends the test.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Operation, readDescription } from '../description.ts';
import { type GitTraffic, serveGit } from './git-http.ts';

const description = readDescription('github-openapi.json');

/** A request that the description knows. */
export interface Asked {
  readonly operation: string;
  readonly url: URL;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are judged by the description before anybody reads them
  readonly body: any;
  /** Whether the answer was that nothing has changed, which GitHub does not count. */
  isUnchanged?: boolean;
}

export interface Answer {
  readonly status?: number;
  /** What of the answer matters; the rest is made up as the description asks for it. */
  readonly data?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Routes = Readonly<Record<string, (asked: Asked) => Answer>>;

/** What goes wrong: an answer in place of the right one, or undefined to let the request pass. */
export type Fault = (asked: Asked) => Answer | 'cut' | undefined;

/** GraphQL does not answer: the REST API is asked. */
export const withoutGraphql: Fault = ({ operation }) =>
  operation === 'POST /graphql' ? { status: 502 } : undefined;

export interface GitHubServer {
  /** Of the API, and of repositories. */
  readonly url: string;
  /** The API without the network. */
  readonly fetch: typeof fetch;
  readonly asked: Asked[];
  readonly git: GitTraffic;
  /** What GitHub would not have taken, or would not have said. */
  readonly defects: string[];
  faults: Fault[];
  /** Says of a request that it is done, and that its answer is lost. */
  deaf: (() => boolean) | undefined;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly routes: Routes;
  /** Directory of the repository that is served under every name. */
  readonly repository: string;
  readonly token: string;
}

export async function startGitHub({ routes, repository, token }: ServerOptions): Promise<GitHubServer> {
  const fake = {
    asked: [] as Asked[],
    git: { requests: 0, bytes: 0 },
    defects: [] as string[],
    faults: [] as Fault[],
    deaf: undefined as (() => boolean) | undefined,
  };
  const answerTo = (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const [, path] = /^\/[^/]+\/[^/]+?\.git(\/.*)$/.exec(url.pathname) ?? [];
    if (path === undefined) return answerApi(Object.assign(fake, { routes, token }), request, response);
    const expected = `basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
    if (request.headers.authorization?.toLowerCase() !== expected.toLowerCase()) {
      response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
      return Promise.resolve();
    }
    return serveGit(
      { request, response },
      { directory: repository, path: `/.git${path}`, query: url.search.slice(1) },
      fake.git,
    );
  };
  const server = createServer((request, response) => {
    answerTo(request, response).catch((error: unknown) => {
      fake.defects.push(String(error));
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  return Object.assign(fake, {
    url: `http://127.0.0.1:${port}`,
    fetch: fetchFrom(Object.assign(fake, { routes, token })),
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

interface Api {
  readonly asked: Asked[];
  readonly defects: string[];
  readonly faults: Fault[];
  readonly routes: Routes;
  readonly token: string;
  readonly deaf: (() => boolean) | undefined;
}

/** A request as it came, over the network or not. */
interface Came {
  readonly method: string;
  readonly url: URL;
  readonly authorization: string;
  readonly etag: string | undefined;
  readonly body: string;
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string | undefined;
}

async function answerApi(api: Api, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const reply = replyTo(api, {
    method: request.method ?? '',
    url: new URL(request.url ?? '/', `http://${request.headers.host}`),
    authorization: request.headers.authorization ?? '',
    etag: request.headers['if-none-match'],
    body: Buffer.concat(chunks).toString('utf8'),
  });
  if (!reply) response.destroy();
  else response.writeHead(reply.status, reply.headers).end(reply.text);
}

/** The API in the process of the test, as `fetch`: what takes longest of a request is the network. */
function fetchFrom(api: Api): typeof fetch {
  return async (address, { method = 'GET', headers = {}, body } = {}) => {
    const given = new Headers(headers);
    const reply = replyTo(api, {
      method,
      url: new URL(String(address)),
      authorization: given.get('authorization') ?? '',
      etag: given.get('if-none-match') ?? undefined,
      body: typeof body === 'string' ? body : '',
    });
    if (!reply) throw new TypeError('fetch failed');
    const { status, headers: own, text } = reply;
    const response = new Response(status === 204 || status === 304 ? null : text, { status, headers: own });
    // Octokit asks for it where a list has a count.
    return Object.defineProperty(response, 'url', { value: String(address) });
  };
}

/** Undefined where the connection is cut. */
function replyTo(api: Api, { method, url, authorization, etag: known, body }: Came): Reply | undefined {
  const operation = description.operationOf(method, url.pathname);
  const asked: Asked = {
    operation: operation?.name ?? `${method} ${url.pathname}`,
    url,
    path: pathOf(operation, url.pathname),
    query: Object.fromEntries(url.searchParams),
    body: body === '' ? undefined : JSON.parse(body),
  };
  api.asked.push(asked);
  if (operation) api.defects.push(...description.requestDefects(operation, asked));
  else if (url.pathname !== '/graphql') api.defects.push(`no operation ${asked.operation}`);
  const answer = /^(?:token|bearer) /i.test(authorization)
    ? (api.faults.map((fault) => fault(asked)).find(Boolean) ?? routed(api, asked))
    : { status: 401 };
  if (answer === 'cut' || api.deaf?.()) return undefined;
  const { status = 200, data, headers = {} } = answer;
  const text = operation
    ? answerText(api, operation, { status, data })
    : JSON.stringify(data ?? { message: 'x' });
  const etag = `"${createHash('sha256').update(text).update(JSON.stringify(headers)).digest('hex')}"`;
  if (method === 'GET' && status === 200 && known === etag) {
    asked.isUnchanged = true;
    return { status: 304, headers: { etag, ...headers }, text: undefined };
  }
  const all = { 'content-type': 'application/json', etag, ...headers };
  return { status, headers: all, text: status === 204 ? undefined : text };
}

/** What a route throws for an object that is not there: GitHub answers 404. */
export class NotFound extends Error {}

function routed({ routes }: Api, asked: Asked): Answer {
  const missing = { status: 404, data: { message: 'Not Found' } };
  try {
    return routes[asked.operation]?.(asked) ?? missing;
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    return missing;
  }
}

function pathOf(operation: Operation | undefined, path: string): Record<string, string> {
  const groups = operation?.pattern.exec(path)?.groups ?? {};
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]));
}

/** Texts of answers that were found right, by what matters of them. */
const known = new Map<string, string>();
const MOST_KNOWN = 5000;

/** The text of an answer, which the description must allow. */
function answerText({ defects }: Api, operation: Operation, { status = 200, data }: Answer): string {
  const schema = description.responseSchema(operation, status);
  if (!schema || status >= 400) return JSON.stringify(data ?? { message: 'x' });
  const key = `${operation.name} ${status} ${JSON.stringify(data)}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const whole = description.leastOf(schema, data);
  const found = description.defectsOf(schema, whole).map((defect) => `answer ${operation.name}: ${defect}`);
  defects.push(...found);
  const text = JSON.stringify(whole);
  if (known.size >= MOST_KNOWN) known.clear();
  if (found.length === 0) known.set(key, text);
  return text;
}
