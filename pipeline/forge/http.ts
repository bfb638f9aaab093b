/** A forge's API over HTTP: JSON both ways, errors without a token in them. */
import { parsedJson } from '../../catalog/json.ts';
import { type ErrorCode, PipelineError } from '../error.ts';
import { keepAuthorization, withoutSecrets } from '../secrets.ts';
import { list, type Reader } from './reply.ts';

interface ForgeApi {
  /** The forge's name in messages. */
  readonly name: string;
  /** `https://forge.example.com/api/v1`, without a slash at its end. */
  readonly url: string;
  /** Credentials, by name of the header. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** The parameter for the number of entries in a page. */
  readonly pageSize: 'limit' | 'per_page';
}

/** All functions throw PipelineError: `denied`, `not-found`, `conflict`, `usage`, `rate-limited`, `bad-answer`, `unreachable`. */
export interface ForgeClient {
  /**
   * Reads. Redirects are not followed: the token would go along.
   *
   * @param path with its parameters encoded
   */
  get<T>(path: string, read: Reader<T>): Promise<T>;
  /** As `get`, undefined for what does not exist or may not be seen. */
  find<T>(path: string, read: Reader<T>): Promise<T | undefined>;
  /**
   * All pages of a list, or its first entries. A list without an end is a `bad-answer`.
   *
   * @param read reads one entry
   * @param most entries at most
   */
  pages<T>(path: string, read: Reader<T>, most?: number): Promise<T[]>;
  /** Writes; the reply is not read. */
  send(method: string, path: string, body?: object): Promise<void>;
}

/** The answer, or `absent` for what does not exist. */
export async function unlessGone<T, U>(asked: Promise<T>, absent: U): Promise<T | U> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'not-found') return absent;
    throw error;
  }
}

/** The answer; undefined for what does not exist or may not be seen. */
export async function answerIfReadable<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof PipelineError && (error.code === 'not-found' || error.code === 'denied'))
      return undefined;
    throw error;
  }
}

/** How long one answer may take, in ms. */
const TIMEOUT = 30_000;
/** Entries to ask for in a page; a forge may be configured to return fewer. */
const PAGE = 50;
const MOST_PAGES = 200;

const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'usage',
  401: 'denied',
  403: 'denied',
  404: 'not-found',
  409: 'conflict',
  410: 'not-found',
  422: 'usage',
  429: 'rate-limited',
};

/** A client of a forge's REST API, which checks the form of every reply. */
export function openForgeClient(api: ForgeApi): ForgeClient {
  const get = async <T>(path: string, read: Reader<T>, field = ''): Promise<T> => {
    const asked = { method: 'GET', path };
    const value = parsedJson(await send(api, asked));
    return read(value, { forge: api.name, request: nameOf(asked), field });
  };
  return {
    get: (path, read) => get(path, read),
    find: (path, read) => answerIfReadable(get(path, read)),
    pages: async <T>(path: string, read: Reader<T>, most = Number.POSITIVE_INFINITY) => {
      const all: T[] = [];
      for (let page = 1; page <= MOST_PAGES; page++) {
        const mark = path.includes('?') ? '&' : '?';
        const entries = await get(`${path}${mark}${api.pageSize}=${PAGE}&page=${page}`, list(read));
        // A page may be shorter than asked for and not the last one.
        if (entries.length === 0) return all;
        all.push(...entries);
        if (all.length >= most) return all.slice(0, most);
      }
      throw new PipelineError('bad-answer', `${api.name} lists more than ${MOST_PAGES} pages of ${path}`);
    },
    send: async (method, path, body) => void (await send(api, { method, path, body })),
  };
}

interface ForgeRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: object | undefined;
}

/** A request without its parameters, for messages. */
function nameOf({ method, path }: ForgeRequest): string {
  return `${method} ${path.replace(/\?.*$/s, '')}`;
}

/**
 * Sends one request.
 *
 * @returns the text of the reply
 * @throws PipelineError for every status that is not 2xx
 */
async function send({ name, url, headers }: ForgeApi, asked: ForgeRequest): Promise<string> {
  const { method, path, body } = asked;
  const proof = await headers();
  for (const value of Object.values(proof)) keepAuthorization(value);
  const request = {
    method,
    headers: {
      accept: 'application/json',
      'user-agent': 'portolan',
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...proof,
    },
    redirect: 'manual' as const,
    signal: AbortSignal.timeout(TIMEOUT),
    ...(body ? { body: JSON.stringify(body) } : {}),
  };
  const what = nameOf(asked);
  const { status, text } = await answerOf(`${url}${path}`, request).catch((cause: unknown) => {
    throw new PipelineError('unreachable', `${name} did not answer ${what}`, { retryable: true, cause });
  });
  if (status >= 200 && status < 300) return text;
  throw errorOf(name, what, { status, text });
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A connection may also end in the middle of the text. */
async function answerOf(url: string, request: RequestInit): Promise<Answer> {
  const response = await fetch(url, request);
  return { status: response.status, text: await response.text() };
}

/** The error for a reply whose status is not 2xx. */
function errorOf(name: string, what: string, { status, text }: Answer): PipelineError {
  const words = withoutSecrets(text).replaceAll(/\s+/g, ' ').slice(0, 300);
  // A redirect counts as not found: forges redirect names that a repository gave up.
  const code = status >= 300 && status < 400 ? 'not-found' : (CODES[status] ?? 'bad-answer');
  return new PipelineError(code, `${name} returned ${status} for ${what}: ${words}`, {
    // GitLab answers 409 while it sets another status of the commit (app/services/ci/create_commit_status_service.rb).
    retryable: status >= 500 || status === 409 || code === 'rate-limited',
  });
}
