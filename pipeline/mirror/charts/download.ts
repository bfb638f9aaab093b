/** Files of web servers, such as chart repositories: over HTTPS, paced, tried again, and of limited size. */
import { PipelineError } from '../../error.ts';
import { type ClientOptions, openTransport } from '../../oci/registry/client.ts';
import { failureOf, readAll } from '../../oci/registry/response.ts';
import { basicHeader, bearerHeader } from '../../oci/registry/token.ts';
import type { RepositoryPorts } from './repository.ts';

interface Downloads extends Pick<RepositoryPorts, 'download'> {
  close(): void;
}

/** Opens downloads of charts and release data. @param options how hosts are reached, with whose credentials */
export function openDownloads(options: ClientOptions): Downloads {
  const transport = openTransport(options);
  return {
    download: async (url, what, limit, type) => {
      const headers = type === undefined ? {} : { accept: type };
      const authorization = await authorizationFor(url, options);
      transport.checkUrl(url);
      return transport.attempt(url.host, async (budget) => {
        const answer = await transport.send({ method: 'GET', url, what, authorization, headers }, budget);
        if (answer.status !== 200) throw await failureOf(answer, what);
        return readAll(answer, limit, what);
      });
    },
    close: () => transport.close(),
  };
}

/**
 * The `Authorization` header for a web server, from the credentials for its host.
 *
 * @throws PipelineError `denied` for an identity token, which only registries exchange
 */
async function authorizationFor({ host }: URL, { credentials }: ClientOptions): Promise<string | undefined> {
  const credential = await credentials?.credential({ registry: host, repository: '' });
  if (!credential) return undefined;
  if (credential.kind === 'bearer') return bearerHeader(credential);
  if (credential.kind === 'basic') return basicHeader(credential);
  throw new PipelineError('denied', `${host} is not a registry: it cannot use an identity token`);
}
