/**
 * A cluster's API, as far as it is read: lists of objects, page by page. It sends nothing but GET, and follows no
 * redirect: a token goes to the server of the kubeconfig only.
 */
import { Agent, request } from 'node:https';
import { isObject } from '../../../catalog/go/shape.ts';
import { parsedJson } from '../../../catalog/json.ts';
import { PipelineError } from '../../error.ts';
import { keepSecret, withoutSecrets } from '../../secrets.ts';
import type { ClusterAccess } from './kubeconfig.ts';

export interface ClusterApi {
  /** The object at a path; undefined where there is none, or no such kind. */
  readonly get: (path: string) => Promise<unknown>;
  /** The objects of a list; undefined where the cluster has no such kind. */
  readonly list: (path: string, selector?: string) => Promise<readonly unknown[] | undefined>;
  readonly close: () => void;
}

/** Objects of a page: as many as kubectl asks for. */
const PAGE = 500;

/** Most pages of a list: a million objects. */
const MOST_PAGES = 2000;

/** Most bytes of all answers of a cluster, which are in memory together. */
const MOST = 256 * 1024 * 1024;

/** How long a cluster may be silent, in milliseconds. */
const PATIENCE = 60_000;

/** How long one answer may take, in milliseconds: a byte now and then breaks the silence. */
const LONGEST = 300_000;

/**
 * Opens the API of a cluster.
 *
 * @param most bytes of all its answers
 * @param longest milliseconds that one answer may take
 */
export function clusterApi(
  access: ClusterAccess,
  most: number = MOST,
  longest: number = LONGEST,
): ClusterApi {
  const { ca, certificate, token } = access;
  if (token !== undefined) keepSecret(token);
  const agent = new Agent({ keepAlive: true, ...(ca === undefined ? {} : { ca }), ...certificate });
  const budget: Budget = { most, left: most };
  const get = async (path: string): Promise<unknown> => {
    const { status, body } = await answerTo(access, { agent, budget, longest }, path).catch(
      (cause: unknown) => {
        throw cause instanceof PipelineError ? cause : unusableAccess(access, cause);
      },
    );
    if (status === 404) return undefined;
    if (status !== 200) throw refusal(access, { path, status, body });
    const value = parsedJson(body);
    if (value !== undefined) return value;
    // Such as the page of a proxy: not a cluster without such objects.
    throw new PipelineError('bad-answer', `${answeredText(access, { path, status })}: not JSON`);
  };
  return {
    get,
    list: (path, selector) => allPagesOf(get, path, selector),
    close: () => agent.destroy(),
  };
}

/** What Node does not even send, such as a token with a line break, or a key that is not PEM. */
function unusableAccess({ name }: ClusterAccess, cause: unknown): PipelineError {
  const text = `cannot use the token or the certificate of context ${JSON.stringify(name)}`;
  return new PipelineError('usage', text, { cause, hint: 'a token has no line break; certificates are PEM' });
}

/** All pages; where the continue token has expired, the list is read once more from its beginning. Undefined as {@link pagesOf}. */
async function allPagesOf(
  get: ClusterApi['get'],
  path: string,
  selector: string | undefined,
): Promise<readonly unknown[] | undefined> {
  for (let tries = 0; ; tries++) {
    try {
      return await pagesOf(get, path, selector);
    } catch (error) {
      if (tries > 0 || !(error instanceof ExpiredList)) throw error;
    }
  }
}

/** The API answered 410: the objects changed too much since the first page. */
class ExpiredList extends PipelineError {}

/** All items of a list; undefined if the cluster does not have this kind of object. */
async function pagesOf(
  get: ClusterApi['get'],
  path: string,
  selector: string | undefined,
): Promise<readonly unknown[] | undefined> {
  const items: unknown[] = [];
  const tokens = new Set<string>();
  let next = '';
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = new URLSearchParams({ limit: String(PAGE) });
    if (selector !== undefined) query.set('labelSelector', selector);
    if (next !== '') query.set('continue', next);
    const value = await get(`${path}?${query}`);
    // Only the first page tells that there is no such kind; a later one that is missing is a wrong answer.
    if (value === undefined && page === 0) return undefined;
    if (!isObject(value) || !Array.isArray(value['items']))
      throw new PipelineError('bad-answer', `the cluster's answer to ${path} is not a list`);
    for (const item of value['items']) items.push(item);
    const metadata = isObject(value['metadata']) ? value['metadata'] : {};
    next = typeof metadata['continue'] === 'string' ? metadata['continue'] : '';
    if (next === '') return items;
    if (tokens.has(next))
      throw new PipelineError('bad-answer', `the list ${path} leads back to an earlier page`);
    tokens.add(next);
  }
  throw new PipelineError('too-large', `the list ${path} has more than ${MOST_PAGES} pages`);
}

/** The error for answers that would fill the memory. */
function tooLarge(name: string, { most }: Budget): PipelineError {
  const text = `the answers of cluster ${JSON.stringify(name)} have more than ${most} bytes`;
  return new PipelineError('too-large', text);
}

interface ApiAnswer {
  readonly status: number;
  readonly body: string;
}

type Answered = Pick<ApiAnswer, 'status'> & { readonly path: string };

/** Which cluster answered what; the query is left out, as a continue token says nothing to people. */
function answeredText({ name }: ClusterAccess, { path, status }: Answered): string {
  return `cluster ${JSON.stringify(name)} answered ${status} to GET ${path.replace(/\?.*/, '')}`;
}

/** The error for a reply that is not a success, with the server's reason and a hint. */
function refusal(access: ClusterAccess, { path, status, body }: Answered & ApiAnswer): PipelineError {
  const value = parsedJson(body);
  const said =
    isObject(value) && typeof value['message'] === 'string'
      ? // An admission webhook may say as much as it likes.
        `: ${withoutSecrets(value['message']).slice(0, 300)}`
      : '';
  const text = `${answeredText(access, { path, status })}${said}`;
  if (status === 410) return new ExpiredList('bad-answer', text, { retryable: true });
  if (status === 401) return new PipelineError('denied', text, { hint: 'renew the token of the kubeconfig' });
  if (status === 403)
    return new PipelineError('denied', text, {
      hint: 'bind the ClusterRole of docs/fleet.md to the account',
    });
  return new PipelineError('bad-answer', text, { retryable: status >= 500 });
}

/** How many bytes a cluster may still answer. */
interface Budget {
  readonly most: number;
  left: number;
}

interface Connection {
  readonly agent: Agent;
  readonly budget: Budget;
  /** As in {@link clusterApi}. */
  readonly longest: number;
}

/**
 * Sends one GET request.
 *
 * @returns the status and the whole body
 * @throws PipelineError `unreachable`, or `too-large` once all answers exceed the budget
 */
function answerTo(
  { name, server, token }: ClusterAccess,
  { agent, budget, longest }: Connection,
  path: string,
): Promise<ApiAnswer> {
  const failed = (why: string, cause?: unknown): PipelineError =>
    new PipelineError('unreachable', `cannot reach cluster ${JSON.stringify(name)}: ${why}`, {
      retryable: true,
      ...(cause === undefined ? {} : { cause }),
    });
  return new Promise((resolve, reject) => {
    const headers = {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const sent = request(`${server}${path}`, { agent, headers, timeout: PATIENCE }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => {
        budget.left -= part.length;
        if (budget.left >= 0) {
          parts.push(part);
          return;
        }
        // Rejected first: the end of the connection would count as a cluster that cannot be reached.
        reject(tooLarge(name, budget));
        sent.destroy();
      });
      answer.on('end', () =>
        answer.complete
          ? resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') })
          : reject(failed('the answer ended early')),
      );
      // The error that `destroy` was given comes here as it is.
      answer.on('error', (error) =>
        reject(error instanceof PipelineError ? error : failed(error.message, error)),
      );
    });
    const end = setTimeout(() => sent.destroy(failed(`no whole answer for ${longest / 1000} s`)), longest);
    sent.on('close', () => clearTimeout(end));
    sent.on('timeout', () => sent.destroy(failed(`no answer for ${PATIENCE / 1000} s`)));
    sent.on('error', (error) =>
      reject(error instanceof PipelineError ? error : failed(error.message, error)),
    );
    sent.end();
  });
}
