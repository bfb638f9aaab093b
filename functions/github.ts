/** GitHub as an App sees it: statuses on commits, and tokens to fetch with. */
import { createAppAuth } from '@octokit/auth-app';
import { request } from '@octokit/request';
import { isObject } from '../catalog/shape.ts';
import { PipelineError } from '../pipeline/error.ts';
import type { CommitStatus, Forge } from '../pipeline/ports.ts';

/** How the App proves itself: a secret, as JSON. */
export interface AppSecret {
  readonly appId: number;
  readonly installationId: number;
  /** PEM. */
  readonly privateKey: string;
}

export interface GitHubForge extends Forge {
  /** A token of the installation, good for an hour at most; it is kept until shortly before. */
  token(): Promise<string>;
}

/** How long one answer may take, in ms. */
const TIMEOUT = 20_000;

function timely(url: string, options: RequestInit): Promise<Response> {
  return fetch(url, { ...options, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT) });
}

/** @throws PipelineError `usage` for a secret that is none */
export function readAppSecret(text: string): AppSecret {
  const value = parsed(text);
  const { appId, installationId, privateKey } = isObject(value) ? value : {};
  if (typeof appId === 'number' && typeof installationId === 'number' && typeof privateKey === 'string') {
    return { appId, installationId, privateKey };
  }
  throw new PipelineError('usage', "the App's secret cannot be read", {
    hint: '{"appId": 1, "installationId": 2, "privateKey": "-----BEGIN …"}',
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * @param api `https://api.github.com`, or that of an enterprise's own
 * @throws PipelineError from its functions, with nothing of a token in it
 */
export function appForge(secret: () => Promise<AppSecret>, api: string): GitHubForge {
  const send = request.defaults({
    baseUrl: api,
    headers: { 'user-agent': 'portolan' },
    request: { fetch: timely },
  });
  let authentication: Promise<ReturnType<typeof createAppAuth>> | undefined;
  const token = async (): Promise<string> => {
    authentication ??= secret().then((read) => createAppAuth({ ...read, request: send }));
    try {
      return (await (await authentication)({ type: 'installation' })).token;
    } catch (error) {
      authentication = undefined;
      if (error instanceof PipelineError) throw error;
      throw new PipelineError('denied', 'GitHub gives the App no token', { cause: error, retryable: true });
    }
  };
  return {
    token,
    report: async ({ repository, commit, context, state, description, url }: CommitStatus) => {
      const [owner = '', repo = ''] = repository.split('/');
      const status = { state, context, description, ...(url === undefined ? {} : { target_url: url }) };
      const headers = { authorization: `Bearer ${await token()}` };
      try {
        await send('POST /repos/{owner}/{repo}/statuses/{sha}', {
          owner,
          repo,
          sha: commit,
          headers,
          ...status,
        });
      } catch (error) {
        throw failure(error);
      }
    },
  };
}

/** What GitHub answered, without the request, which has the token in it. */
function failure(error: unknown): PipelineError {
  const status = isObject(error) && typeof error['status'] === 'number' ? error['status'] : 0;
  if (status === 0) return new PipelineError('unreachable', 'GitHub does not answer', { retryable: true });
  const code = status === 401 || status === 403 ? 'denied' : status === 404 ? 'not-found' : 'bad-answer';
  return new PipelineError(code, `GitHub answered ${status} to a commit's status`, {
    retryable: status >= 500 || status === 403 || status === 429,
  });
}
