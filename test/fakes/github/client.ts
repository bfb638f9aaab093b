/** A client of the fake GitHub that writes as fast as it can: the real one waits a second between writes. */
import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import type { GitHub } from '../../../pipeline/github/client.ts';
import { TOKEN } from './forge.ts';

export function unpaced({ url }: { readonly url: string }): GitHub {
  const silent = (): void => undefined;
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  return new (Octokit.plugin(paginateRest))({ baseUrl: url, auth: TOKEN, log });
}
