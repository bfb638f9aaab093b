/** A client of the fake GitHub that writes as fast as it can: the real one waits a second between writes. */
import { Octokit } from '@octokit/rest';
import type { GitHub } from '../../../pipeline/github/client.ts';
import { TOKEN } from './forge.ts';

export function unpaced({
  url,
  fetch,
}: {
  readonly url: string;
  readonly fetch?: typeof globalThis.fetch;
}): GitHub {
  const silent = (): void => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  return new Octokit({ baseUrl: url, auth: TOKEN, log, ...(fetch ? { request: { fetch } } : {}) });
}
