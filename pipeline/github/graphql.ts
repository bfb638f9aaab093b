/** GitHub's GraphQL: what the REST API does not have, and questions that would take many requests there. */
import { PipelineError } from '../error.ts';
import { askerOf, dataOf, type GitHub } from './client.ts';

interface QueryError {
  readonly message: string;
  /** Such as `NOT_FOUND`. */
  readonly type?: string;
  readonly path?: readonly (string | number)[];
}

interface Answer<T> {
  readonly data?: T | null;
  readonly errors?: readonly QueryError[];
}

/** On GitHub Enterprise Server, GraphQL is beside the REST API, which is at `/api/v3`. */
function graphqlAddress({ request }: GitHub): string {
  return `${request.endpoint.DEFAULTS.baseUrl.replace(/\/api\/v3\/?$/, '/api')}/graphql`;
}

function send<T>(github: GitHub, query: string, variables: Record<string, unknown>): Promise<Answer<T>> {
  const asked = github.request(`POST ${graphqlAddress(github)}`, { query, variables });
  return dataOf(asked as Promise<{ data: Answer<T> }>);
}

/** The data of one query or mutation. @throws PipelineError `conflict` with GitHub's words when it refuses */
export async function sendQuery<T>(
  github: GitHub,
  query: string,
  variables: Record<string, unknown>,
): Promise<T> {
  const { data, errors } = await send<T>(github, query, variables);
  const [error] = errors ?? [];
  if (error) throw new PipelineError('conflict', `GitHub rejected it: ${error.message}`);
  if (!data) throw new PipelineError('bad-answer', 'GitHub returned an empty response');
  return data;
}

/** The reply to a query. Fields that GitHub refused are null; `refused` has the type of each error by its first name. */
export interface Asked<T> {
  readonly data: T;
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Asks one question in place of several requests. Undefined where GitHub does not answer it: whoever asks then asks the REST
 * API, which also says why.
 */
export async function askAtOnce<T>(
  github: GitHub,
  query: string,
  variables: Record<string, unknown>,
): Promise<Asked<T> | undefined> {
  try {
    const { data, errors = [] } = await send<T>(askerOf(github), query, variables);
    // An error without a path is about the whole question.
    if (!data || errors.some(({ path }) => path === undefined)) return undefined;
    return { data, refused: new Map(errors.map(({ path, type = '' }) => [String(path?.[0]), type])) };
  } catch (error) {
    if (error instanceof PipelineError) return undefined;
    throw error;
  }
}

/** The data of a GraphQL query; undefined if GitHub does not answer it, or refuses a part of it. */
export async function askWhole<T>(
  github: GitHub,
  query: string,
  variables: Record<string, unknown>,
): Promise<T | undefined> {
  const asked = await askAtOnce<T>(github, query, variables);
  return asked?.refused.size === 0 ? asked.data : undefined;
}
