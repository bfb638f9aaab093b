/**
 * GitHub's API: one client with Octokit's own plugins for pages, rate limits and bad
 * moments; whatever goes wrong becomes a PipelineError without a token in it.
 */
import { createAppAuth } from '@octokit/auth-app';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';
import { Octokit } from '@octokit/rest';
import { type ErrorCode, PipelineError } from '../error.ts';
import { LruCache } from '../lru-cache.ts';
import { keepAuthorization, withoutSecrets } from '../secrets.ts';

export type GitHub = Octokit;

/** The account or app that makes the requests. */
type GitHubIdentity =
  | { readonly kind: 'token'; readonly token: string }
  | {
      readonly kind: 'app';
      readonly app: string;
      readonly privateKey: string;
      readonly installation: number | undefined;
    };

interface GitHubOptions {
  /** `https://api.github.com`, or that of an enterprise's own. */
  readonly url: string;
  readonly identity: GitHubIdentity;
  /** Told when a request waits for a rate limit, and of nothing else. */
  readonly log: (line: string) => void;
  /** Longest wait, in s, that a request accepts; a longer one is an error. */
  readonly patience?: number;
  /** How often a request is sent again that GitHub fails at: after 1 s, then 4, then 9. 3 when left out. */
  readonly retries?: number;
}

/** Default wait for a rate limit, in s. */
const PATIENCE = 60;
/** How often one request is sent again: after waits for rate limits, and by default after failures. */
const TRIES = 3;

/** How long one answer may take, in ms. */
const TIMEOUT = 30_000;

/**
 * A client of GitHub's API. It waits where GitHub asks for patience, and repeats requests that failed on GitHub's side.
 */
export function openGitHub({
  url,
  identity,
  log,
  patience = PATIENCE,
  retries = TRIES,
}: GitHubOptions): GitHub {
  const wait = (seconds: number, { method, url: path }: { method: string; url: string }, tries: number) => {
    const what = `${method} ${path}: GitHub requires waiting ${seconds} s`;
    const isTooLong = seconds > patience;
    const isTooOften = tries >= TRIES;
    if (isTooLong) log(`${what}, which is longer than this job waits`);
    else log(isTooOften ? `${what} after ${tries} waits, so this job gives up` : what);
    return !isTooLong && !isTooOften;
  };
  const Client = Octokit.plugin(throttling, retry);
  const silent = (): void => undefined;
  const client = new Client({
    baseUrl: url,
    userAgent: 'portolan',
    ...authOf(identity),
    log: { debug: silent, info: silent, warn: silent, error: silent },
    request: { fetch: fetchInTime },
    retry: { retries },
    throttle: {
      // GitHub counts requests by account, so clients of one account share a pace, and others do not wait for them.
      id: accountOf(url, identity),
      onRateLimit: (seconds, request, _client, tries) => wait(seconds, request as AskedEndpoint, tries),
      onSecondaryRateLimit: (seconds, request, _client, tries) =>
        wait(seconds, request as AskedEndpoint, tries),
    },
  });
  keepAnswers(client);
  askers.set(
    client,
    new Octokit({
      baseUrl: url,
      userAgent: 'portolan',
      authStrategy: () => client.auth,
      log: client.log,
      request: { fetch: fetchInTime },
    }),
  );
  return client;
}

/** For each client, one that waits for nothing: the other takes questions in GraphQL for writes, and sends one a second. */
const askers = new WeakMap<GitHub, GitHub>();

/** The client that asks questions in GraphQL. */
export function askerOf(github: GitHub): GitHub {
  return askers.get(github) ?? github;
}

/** Answers that are kept of one client. */
const MOST_KEPT = 200;

/**
 * Repeated reads are conditional: GitHub replies 304 if nothing changed, which does not count for the rate limit.
 * https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
 */
function keepAnswers(client: Octokit): void {
  const answers = new LruCache<Awaited<ReturnType<Octokit['request']>>>(MOST_KEPT);
  const { endpoint } = client.request;
  client.hook.wrap('request', async (send, options) => {
    if (options.method !== 'GET') return send(options);
    const { url } = endpoint(options);
    const before = answers.get(url);
    const etag = before?.headers.etag;
    const asked = etag ? { ...options, headers: { ...options.headers, 'if-none-match': etag } } : options;
    try {
      const answered = await send(asked);
      // Octokit changes what it gives.
      if (answered.headers.etag) answers.keep(url, structuredClone(answered), 1);
      return answered;
    } catch (error) {
      if (before && error instanceof Error && 'status' in error && error.status === 304)
        return structuredClone(before);
      throw error;
    }
  });
}

interface AskedEndpoint {
  readonly method: string;
  readonly url: string;
}

function accountOf(url: string, identity: GitHubIdentity): string {
  const account = identity.kind === 'token' ? identity.token : `${identity.app}/${identity.installation}`;
  return `${url} ${account}`;
}

function authOf(identity: GitHubIdentity): object {
  if (identity.kind === 'token') return { auth: identity.token };
  const { app, privateKey, installation } = identity;
  const installed = installation === undefined ? {} : { installationId: installation };
  return { authStrategy: createAppAuth, auth: { appId: app, privateKey, ...installed } };
}

/**
 * Sends a request, with a time limit. Its credentials are kept out of messages: Node's errors repeat a header
 * that has a line break, and a server may repeat any.
 */
function fetchInTime(
  url: string,
  options: RequestInit & { headers: Record<string, string> },
): Promise<Response> {
  const { authorization } = options.headers;
  if (authorization !== undefined) keepAuthorization(authorization);
  return fetch(url, { ...options, signal: AbortSignal.timeout(TIMEOUT) });
}

/**
 * The data of an answer.
 *
 * @throws PipelineError `not-found`, `denied`, `rate-limited`, `conflict`, `usage` for what GitHub does not
 *   take, `bad-answer` (retryable) when it fails, `unreachable`
 */
export async function dataOf<T>(asked: Promise<{ readonly data: T }>): Promise<T> {
  try {
    return (await asked).data;
  } catch (error) {
    throw errorOf(error);
  }
}

/**
 * The data of a response; undefined for what does not exist or may not be seen.
 *
 * @throws PipelineError for any other failure
 */
export async function answerIfAny<T>(asked: Promise<{ readonly data: T }>): Promise<T | undefined> {
  try {
    return await dataOf(asked);
  } catch (error) {
    if (error instanceof PipelineError && (error.code === 'not-found' || error.code === 'denied'))
      return undefined;
    throw error;
  }
}

/** All pages of a list. @throws PipelineError as {@link dataOf} */
export async function allPages<T>(asked: Promise<T[]>): Promise<T[]> {
  try {
    return await asked;
  } catch (error) {
    throw errorOf(error);
  }
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'denied',
  403: 'denied',
  404: 'not-found',
  405: 'conflict',
  409: 'conflict',
  410: 'not-found',
  422: 'usage',
  429: 'rate-limited',
};

/** A failure of a request as a PipelineError; any other error as it is. */
function errorOf(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !('status' in thrown) || !('request' in thrown)) return thrown;
  const { status, request } = thrown as Error & { status: number; request: AskedEndpoint };
  const what = `${request.method} ${new URL(request.url).pathname}`;
  const words = withoutSecrets(thrown.message).replaceAll(/\s+/g, ' ').slice(0, 300);
  const waiting = /rate limit/i.test(words);
  // Octokit reports 500 for requests without a reply.
  if (!('response' in thrown) || thrown.response === undefined) {
    return new PipelineError('unreachable', `${what}: ${words}`, { retryable: true, cause: thrown });
  }
  const hint = status === 403 && !waiting ? hintFor(request) : undefined;
  const code = waiting ? 'rate-limited' : (CODES[status] ?? 'bad-answer');
  return new PipelineError(code, `GitHub returned ${status} for ${what}: ${words}`, {
    retryable: status >= 500 || code === 'rate-limited',
    cause: thrown,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The permission that each kind of write needs. For forks, a job of `pull_request` may only read. */
const WRITES: readonly (readonly [RegExp, string])[] = [
  [/\/statuses\/[^/]+$/, 'statuses'],
  [/\/check-runs(?:\/|$)/, 'checks'],
  [/\/(?:merge|dispatches|git\/[^?]+)$/, 'contents'],
  [/\/deployments(?:\/|$)/, 'deployments'],
  [/\/(?:pulls|issues|labels)(?:\/|$)/, 'pull-requests'],
];

function hintFor({ method, url }: AskedEndpoint): string | undefined {
  if (method === 'GET') return undefined;
  const [, right] = WRITES.find(([path]) => path.test(new URL(url).pathname)) ?? [];
  if (right === undefined) return undefined;
  return `give the job or the App "${right}: write"; for pull requests from forks, start the workflow on pull_request_target`;
}
