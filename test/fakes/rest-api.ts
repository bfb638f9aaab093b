/** What the fakes of Forgejo and GitLab have in common: routes that answer in JSON, pages of lists, and commits. */
import { expect, onTestFinished } from 'vitest';
import type { Description } from './description.ts';
import { type Asked, type Bend, reply, startHost } from './host.ts';
import type { TestRepository } from './repository.ts';

/** Answers, or the number of an error; nothing for an answer without a body. */
export type Route = (match: readonly string[], query: URLSearchParams, body: string) => unknown;

/** Entries of a page at most, whatever is asked for. */
const PAGE = 2;

export interface RestApi {
  /** Where the API begins, such as `/api/v1`. */
  readonly root: string;
  /** By `METHOD /path` below the root, a regular expression. */
  readonly routes: readonly (readonly [pattern: string, route: Route])[];
  /** Whether a request may be answered. */
  readonly isIn: (headers: Asked['headers']) => boolean;
  /** Sees each request; a number is what is answered in place of an answer. */
  readonly see?: (what: string) => number | undefined;
  /** What an error says. */
  readonly errorText?: (status: number) => string;
  /** Changes what is answered. */
  readonly bend: Bend;
  /** The forge's own description, which each request and each answer must fit. */
  readonly description?: Description;
}

/** Starts an API that goes away with the test. @returns its address */
export async function startRestApi(api: RestApi): Promise<string> {
  const { root, routes, isIn, see, errorText = () => 'no', bend, description } = api;
  const defects = new Set<string>();
  onTestFinished(() => expect([...defects]).toEqual([]));
  const judged = (asked: Asked, said: unknown): unknown => {
    for (const defect of description ? defectsOf(description, root, asked, said) : []) defects.add(defect);
    return said;
  };
  const answerTo = (asked: Asked) => {
    const { method, url, headers, body } = asked;
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const what = `${method} ${pathname.replace(root, '')}`;
    const refused = see?.(what);
    if (refused !== undefined) return { what, said: refused };
    if (!isIn(headers)) return { what, said: 401 };
    for (const [pattern, route] of routes) {
      const match = new RegExp(`^${pattern}$`).exec(what);
      if (match)
        return { what, said: judged(asked, route(match.slice(1), searchParams, body.toString('utf8'))) };
    }
    return { what, said: 404 };
  };
  const host = await startHost((request, response) => {
    const { what, said } = answerTo(request);
    if (typeof said === 'number') reply(response, said, JSON.stringify({ message: errorText(said) }));
    else if (said === undefined) reply(response, 204);
    else reply(response, 200, JSON.stringify(bend(what, said)) ?? '');
  });
  return `${host.url}${root}`;
}

/** What of a request, and of the answer to it, the forge does not know. */
function defectsOf(
  description: Description,
  root: string,
  { method, url, body }: Asked,
  said: unknown,
): string[] {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const path = decodeURI(pathname.replace(root, ''));
  const operation = description.operationOf(method, path);
  if (!operation) return [`no operation ${method} ${path}`];
  const sent = body.length > 0 ? (JSON.parse(body.toString('utf8')) as unknown) : undefined;
  const defects = description.requestDefects(operation, {
    query: Object.fromEntries(searchParams),
    body: sent,
  });
  if (typeof said === 'number' || said === undefined) return defects;
  const status = Object.keys(operation.responses).find((one) => one.startsWith('2')) ?? '200';
  const schema = description.responseSchema(operation, Number(status));
  const wrong = schema ? description.defectsOf(schema, said) : [];
  return [...defects, ...wrong.map((defect) => `answer ${operation.name}: ${defect}`)];
}

/** The entries of the page that is asked for. */
export function pageOf<T>(all: readonly T[], query: URLSearchParams): T[] {
  const from = (Number(query.get('page') ?? 1) - 1) * PAGE;
  return all.slice(from, from + PAGE);
}

export interface LoggedCommit {
  readonly id: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly committer: { readonly name: string; readonly email: string };
  /** When it was committed, with a time zone. */
  readonly date: string;
  readonly parents: readonly string[];
  readonly message: string;
}

/** The commits that `git log` lists for words. */
export function loggedCommits(git: TestRepository['git'], ...words: readonly string[]): LoggedCommit[] {
  return git('log', '--format=%H%x00%an%x00%ae%x00%cn%x00%ce%x00%cI%x00%P%x00%B%x01', ...words)
    .split('\u0001')
    .map((text) => text.trim().split('\0'))
    .filter(([id]) => id !== '')
    .map(
      ([
        id = '',
        name = '',
        email = '',
        committer = '',
        mail = '',
        date = '',
        parents = '',
        message = '',
      ]) => ({
        id,
        author: { name, email },
        committer: { name: committer, email: mail },
        date,
        parents: parents.split(' ').filter(Boolean),
        message,
      }),
    );
}
