/** A forge's API over HTTP: JSON both ways, errors without a token in them. */
import { type ErrorCode, PipelineError } from '../error.ts';
import { parsedJson } from '../json.ts';

export interface ForgeApi {
  /** What people call the forge. */
  readonly name: string;
  /** `https://forge.example.com/api/v1`, without a slash at its end. */
  readonly url: string;
  /** What proves who asks, by name of the header. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** The parameter that says how many entries a page has. */
  readonly pageSize: 'limit' | 'per_page';
}

export interface ForgeClient {
  /**
   * The data of an answer; undefined for an empty one. Redirects are not followed: the token would go along.
   *
   * @param path with its parameters encoded
   * @throws PipelineError `denied`, `not-found`, `conflict`, `usage`, `rate-limited`, `bad-answer` (retryable for 5xx), `unreachable`
   */
  ask<T>(method: string, path: string, body?: object): Promise<T>;
  /** As `ask` to read, undefined for what does not exist or may not be seen. */
  find<T>(path: string): Promise<T | undefined>;
  /**
   * All pages of a list, or its first entries.
   *
   * @param most entries at most
   * @throws PipelineError `bad-answer` for one without an end
   */
  pages<T>(path: string, most?: number): Promise<T[]>;
}

/** How long one answer may take, in ms. */
const TIMEOUT = 30_000;
/** Entries of a page; forges give fewer where they are told to. */
const PAGE = 50;
const MOST_PAGES = 200;

const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'usage',
  401: 'denied',
  403: 'denied',
  404: 'not-found',
  405: 'conflict',
  409: 'conflict',
  410: 'not-found',
  422: 'usage',
  429: 'rate-limited',
};

export function openForgeClient(api: ForgeApi): ForgeClient {
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await send(api, { method, path, body });
    const text = await response.text();
    if (response.ok) return (text === '' ? undefined : parsedJson(text)) as T;
    throw errorOf(api, `${method} ${path.replace(/\?.*$/s, '')}`, response.status, text);
  };
  const find = async <T>(path: string): Promise<T | undefined> => {
    try {
      return await ask<T>('GET', path);
    } catch (error) {
      if (error instanceof PipelineError && (error.code === 'not-found' || error.code === 'denied'))
        return undefined;
      throw error;
    }
  };
  return {
    ask,
    find,
    pages: async <T>(path: string, most = Number.POSITIVE_INFINITY) => {
      const all: T[] = [];
      for (let page = 1; page <= MOST_PAGES; page++) {
        const mark = path.includes('?') ? '&' : '?';
        const some = await ask<T[]>('GET', `${path}${mark}${api.pageSize}=${PAGE}&page=${page}`);
        // A page may be shorter than asked for and not the last one.
        if (!Array.isArray(some))
          throw new PipelineError('bad-answer', `${api.name} did not answer a list of ${path}`, {
            retryable: true,
          });
        if (some.length === 0) return all;
        all.push(...some);
        if (all.length >= most) return all.slice(0, most);
      }
      throw new PipelineError('bad-answer', `${api.name} lists more than ${MOST_PAGES} pages of ${path}`);
    },
  };
}

async function send(
  { name, url, headers }: ForgeApi,
  {
    method,
    path,
    body,
  }: { readonly method: string; readonly path: string; readonly body: object | undefined },
): Promise<Response> {
  const asked = {
    method,
    headers: {
      accept: 'application/json',
      'user-agent': 'portolan',
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(await headers()),
    },
    redirect: 'manual' as const,
    signal: AbortSignal.timeout(TIMEOUT),
    ...(body ? { body: JSON.stringify(body) } : {}),
  };
  try {
    return await fetch(`${url}${path}`, asked);
  } catch (cause) {
    throw new PipelineError('unreachable', `${name} did not answer ${method} ${path.replace(/\?.*$/s, '')}`, {
      retryable: true,
      cause,
    });
  }
}

function errorOf({ name }: ForgeApi, what: string, status: number, text: string): PipelineError {
  const said = text.replaceAll(/\s+/g, ' ').slice(0, 300);
  // What moved is not where it was: names that were given up are redirected.
  const code = status >= 300 && status < 400 ? 'not-found' : (CODES[status] ?? 'bad-answer');
  return new PipelineError(code, `${name} returned ${status} for ${what}: ${said}`, {
    retryable: status >= 500 || code === 'rate-limited',
  });
}
