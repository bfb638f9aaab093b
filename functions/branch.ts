/** A branch as a delivery reads it: over HTTP without git, and with git where the server serves whole repositories only. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { PipelineError } from '../pipeline/error.ts';
import { fetchBranch } from '../pipeline/git/fetch.ts';
import { type GitClient, openGitClient } from '../pipeline/git/http/client.ts';
import { openHttpRepository } from '../pipeline/git/http/repository.ts';
import type { GitObject } from '../pipeline/git/objects.ts';
import { authorizationHeader, authorizationValue } from '../pipeline/git/process.ts';
import { openRepository } from '../pipeline/git/repository.ts';
import { LruCache } from '../pipeline/lru-cache.ts';
import { openTransport } from '../pipeline/oci/registry/client.ts';
import type { DeliveryPorts, OpenBranch } from '../pipeline/publish/delivery/ports.ts';
import type { Source } from './receive.ts';
import type { HostSettings } from './settings.ts';

/** Bytes of git objects that a process keeps from one message to the next. */
const KEPT = 64 * 1024 * 1024;

interface BranchOptions {
  /** A token to fetch with, asked for before each request; undefined to fetch as nobody. */
  readonly token: (() => Promise<string>) | undefined;
  readonly log: (line: string) => void;
}

/** Opens branches of the settings' sources. What one message fetched, the next one in the same process has. */
export function branchOpener(settings: HostSettings, { token, log }: BranchOptions): DeliveryPorts['open'] {
  const cache = new LruCache<GitObject>(KEPT);
  const clients = new Map<string, GitClient>();
  const clientOf = (url: string): GitClient => {
    const client = clients.get(url) ?? newClient(settings, url, token);
    clients.set(url, client);
    return client;
  };
  return async ({ repository: name, branch }) => {
    const source = settings.sources.find((one) => one.repository === name && one.branch === branch);
    if (!source) throw new PipelineError('not-allowed', `${name} ${branch} is not published from here`);
    const client = clientOf(source.url);
    // Of what it takes to read parts of a repository.
    const lacking = await client.lacking();
    if (lacking.length > 0) {
      log(`the git server of ${name} lacks ${lacking.join(', ')}: git clones the repository instead`);
      return openClone(settings, source, token);
    }
    const repository = openHttpRepository({ client, cache });
    try {
      const tip = await client.tip(branch);
      await repository.bring([tip]);
      return { repository, tip, close: repository.close };
    } catch (error) {
      await repository.close();
      throw error;
    }
  };
}

/** A client of a git server that asks over HTTP, without git. */
function newClient(
  { plainHttp, environment }: HostSettings,
  url: string,
  token: BranchOptions['token'],
): GitClient {
  // Who sets up the host names the source: it may be on an internal network.
  const transport = openTransport({ internal: [new URL(url).host], plainHttp, environment });
  return openGitClient({ url, transport, authorization: async () => authorizationValue(await token?.()) });
}

/**
 * The branch in a clone by git, for servers that serve whole repositories only. The clone is kept for the
 * next message.
 */
async function openClone(
  { clones, git }: HostSettings,
  { url, branch }: Source,
  token: BranchOptions['token'],
): Promise<OpenBranch> {
  // A URL has characters that no folder may have; 64 bits of a digest tell a host's sources apart.
  const directory = join(clones, createHash('sha256').update(url).digest('hex').slice(0, 16));
  const header = authorizationHeader(await token?.());
  const tip = await fetchBranch({ url, branch, directory, settings: git, reach: { header } });
  const repository = await openRepository(directory, git);
  return { repository, tip, close: repository.close };
}
