/**
 * ECR's passwords: tokens of the cloud, for half a day, which whoever has the role gets.
 *
 * @see https://docs.aws.amazon.com/AmazonECR/latest/userguide/registry_auth.html
 */
import { ECRClient, GetAuthorizationTokenCommand } from '@aws-sdk/client-ecr';
import { PipelineError } from '../../pipeline/error.ts';
import { ECR_HOST } from '../../pipeline/oci/registry/quirks.ts';
import type { Credential, CredentialSource } from '../../pipeline/ports.ts';
import { ASKING, codeOf, isRetryable } from '../s3/failure.ts';

/** A registry of ECR. */
interface EcrHost {
  /** Number of the account. */
  readonly account: string;
  readonly region: string;
}

/** `ACCOUNT.dkr.ecr.REGION…`. */
const HOST = new RegExp(`^(\\d{12})${ECR_HOST.source}`);

/** The account and region of a registry of ECR; undefined for registries elsewhere. */
export function ecrHost(registry: string): EcrHost | undefined {
  const [, account, region] = HOST.exec(registry) ?? [];
  return account === undefined || region === undefined ? undefined : { account, region };
}

/** How long before its end a token is replaced, in ms: a push that starts with it may take that long. */
const MARGIN = 30 * 60 * 1000;

/**
 * Credentials for ECR from the function's own role, for other registries from elsewhere.
 *
 * @param clientFor makes a client for a region; called once for each
 * @throws PipelineError from its function: `denied` when the role may not have a token
 */
export function ecrCredentials(
  elsewhere: CredentialSource,
  now: () => Date,
  clientFor: (region: string) => ECRClient = (region) => new ECRClient({ ...ASKING, region }),
): CredentialSource {
  const tokens = new Map<string, Promise<Token>>();
  return {
    async credential(repository) {
      const host = ecrHost(repository.registry);
      if (!host) return elsewhere.credential(repository);
      const { region } = host;
      const token = await tokens.get(region);
      if (token && token.until > now().getTime()) return token.credential;
      const fresh = tokenOf(clientFor(region), now().getTime());
      tokens.set(region, fresh);
      // What failed is asked for again.
      fresh.catch(() => tokens.delete(region));
      return (await fresh).credential;
    },
    async refused(repository, credential) {
      const host = ecrHost(repository.registry);
      if (!host) return (await elsewhere.refused?.(repository, credential)) ?? false;
      const token = await tokens.get(host.region);
      // A token that is new has not expired: the registry refuses what it may do, and another one may do no more.
      if (!token || now().getTime() - token.since < RENEWED) return false;
      tokens.delete(host.region);
      return true;
    },
  };
}

/** A token younger than this, in ms, is not replaced when it is refused. */
const RENEWED = 60_000;

interface Token {
  readonly credential: Credential;
  /** When it was issued, in ms of Unix time. */
  readonly since: number;
  /** Until when pushes may start with it, in ms of Unix time. */
  readonly until: number;
}

/** A token of ECR as a name and a password. @throws PipelineError `bad-answer` for an answer without one */
async function tokenOf(client: ECRClient, since: number): Promise<Token> {
  const answer = await client.send(new GetAuthorizationTokenCommand({})).catch((cause: unknown) => {
    throw ecrFailure('a token', cause);
  });
  const [data] = answer.authorizationData ?? [];
  const text = Buffer.from(data?.authorizationToken ?? '', 'base64').toString();
  const at = text.indexOf(':');
  if (at < 1) throw new PipelineError('bad-answer', 'ECR did not return a token');
  const credential = { kind: 'basic', username: text.slice(0, at), password: text.slice(at + 1) } as const;
  return { credential, since, until: (data?.expiresAt?.getTime() ?? 0) - MARGIN };
}

/**
 * Credentials from elsewhere; for ECR, where there are none, from the process' own role (IRSA, EKS Pod Identity).
 *
 * @param clientFor as for {@link ecrCredentials}
 */
export function ownRoleCredentials(
  elsewhere: CredentialSource,
  now: () => Date,
  clientFor?: (region: string) => ECRClient,
): CredentialSource {
  const own = ecrCredentials({ credential: async () => undefined }, now, clientFor);
  return {
    credential: async (repository) => (await elsewhere.credential(repository)) ?? own.credential(repository),
    refused: async (repository, credential) => {
      const isElsewhere = (await elsewhere.credential(repository)) !== undefined;
      return (await (isElsewhere ? elsewhere : own).refused?.(repository, credential)) ?? false;
    },
  };
}

/** What ECR answered, as an error of ours. */
export function ecrFailure(what: string, cause: unknown): PipelineError {
  const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  const message = `cannot get ${what} from ECR: ${why}`;
  return new PipelineError(codeOf(cause), message, { cause, retryable: isRetryable(cause) });
}
