/**
 * ECR as a registry: its passwords are tokens of the cloud, for half a day, and its repositories must be made before
 * anything is pushed.
 *
 * @see https://docs.aws.amazon.com/AmazonECR/latest/userguide/registry_auth.html
 */
import {
  BatchDeleteImageCommand,
  CreateRepositoryCommand,
  DescribeRepositoriesCommand,
  ECRClient,
  GetAuthorizationTokenCommand,
  GetLifecyclePolicyCommand,
  LifecyclePolicyNotFoundException,
  PutLifecyclePolicyCommand,
  RepositoryAlreadyExistsException,
  RepositoryNotFoundException,
} from '@aws-sdk/client-ecr';
import { formatReference, type Reference } from '../../catalog/reference.ts';
import { PipelineError } from '../../pipeline/error.ts';
import { ECR_HOST } from '../../pipeline/oci/registry/quirks.ts';
import type { Credential, CredentialSource, KeepRule, Repository } from '../../pipeline/ports.ts';
import { ASKING } from '../s3/client.ts';
import { codeOf, isRetryable } from '../s3/failure.ts';

/** A registry of ECR. */
interface EcrHost {
  /** Number of the account. */
  readonly account: string;
  readonly region: string;
}

const HOST = new RegExp(`^(\\d{12})${ECR_HOST.source}`);

/** @returns undefined for registries elsewhere */
export function ecrHost(registry: string): EcrHost | undefined {
  const [, account, region] = HOST.exec(registry) ?? [];
  return account === undefined || region === undefined ? undefined : { account, region };
}

/** Time before the end of a token in which it is not begun with any more, in ms: a push may take that long. */
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
      const known = await tokens.get(region);
      if (known && known.until > now().getTime()) return known.credential;
      const fresh = tokenOf(clientFor(region), now().getTime());
      tokens.set(region, fresh);
      // What failed is asked for again.
      fresh.catch(() => tokens.delete(region));
      return (await fresh).credential;
    },
    async refused(repository, credential) {
      const host = ecrHost(repository.registry);
      if (!host) return (await elsewhere.refused?.(repository, credential)) ?? false;
      const known = await tokens.get(host.region);
      // A new token that is refused is refused for its rights.
      if (!known || now().getTime() - known.since < RENEWED) return false;
      tokens.delete(host.region);
      return true;
    },
  };
}

/** Time in which a token is not replaced again, in ms. */
const RENEWED = 60_000;

interface Token {
  readonly credential: Credential;
  /** When it was had, in ms of Unix time. */
  readonly since: number;
  /** Until when it is begun with, in ms of Unix time. */
  readonly until: number;
}

async function tokenOf(client: ECRClient, since: number): Promise<Token> {
  const answer = await client.send(new GetAuthorizationTokenCommand({})).catch((cause: unknown) => {
    throw refused('a token', cause);
  });
  const [data] = answer.authorizationData ?? [];
  const text = Buffer.from(data?.authorizationToken ?? '', 'base64').toString();
  const at = text.indexOf(':');
  if (at < 1) throw new PipelineError('bad-answer', 'ECR did not return a token');
  const credential = { kind: 'basic', username: text.slice(0, at), password: text.slice(at + 1) } as const;
  return { credential, since, until: (data?.expiresAt?.getTime() ?? 0) - MARGIN };
}

/**
 * Makes a repository where there is none. One that is there stays as its owner set it up.
 *
 * @param immutable whether tags of a new repository may never move
 * @returns whether it was made
 * @throws PipelineError `denied` when the role may not make it
 */
export async function ensureEcrRepository(
  client: ECRClient,
  { registry, repository }: Repository,
  immutable: boolean,
): Promise<boolean> {
  // Else it is one of the function's own account.
  const registryId = ecrHost(registry)?.account;
  try {
    await client.send(new DescribeRepositoriesCommand({ registryId, repositoryNames: [repository] }));
    return false;
  } catch (cause) {
    if (!(cause instanceof RepositoryNotFoundException)) throw refused(`the repository ${repository}`, cause);
  }
  try {
    const imageTagMutability = immutable ? 'IMMUTABLE' : 'MUTABLE';
    const wanted = { registryId, repositoryName: repository, imageTagMutability } as const;
    await client.send(new CreateRepositoryCommand(wanted));
    return true;
  } catch (cause) {
    // Somebody else made it meanwhile.
    if (cause instanceof RepositoryAlreadyExistsException) return false;
    throw refused(`the repository ${repository}`, cause);
  }
}

/**
 * Removes a tag, or an image with all its tags: ECR does so by its own API only.
 *
 * @returns false when there was none
 * @throws PipelineError `denied` when the role may not
 */
export async function deleteFromEcr(client: ECRClient, reference: Reference): Promise<boolean> {
  const { registry, repository } = reference;
  const imageId = reference.kind === 'tag' ? { imageTag: reference.tag } : { imageDigest: reference.digest };
  const what = `rid of ${formatReference(reference)}`;
  const { failures = [] } = await client
    .send(
      new BatchDeleteImageCommand({
        registryId: ecrHost(registry)?.account,
        repositoryName: repository,
        imageIds: [imageId],
      }),
    )
    .catch((cause: unknown) => {
      throw refused(what, cause);
    });
  const [failure] = failures;
  if (!failure) return true;
  if (failure.failureCode === 'ImageNotFound') return false;
  throw new PipelineError('conflict', `cannot get ${what}: ${failure.failureCode}: ${failure.failureReason}`);
}

/** Who wrote a rule: a policy without it is its owner's. */
const OURS = 'portolan: ';
/** Rules of a policy, at most. */
const MOST_RULES = 50;

/**
 * Has ECR delete old images. A repository whose owner has written a lifecycle policy keeps that one.
 *
 * @throws PipelineError `denied` when the role may not, `too-large` for more tags than ECR has rules
 */
export async function keepInEcr(
  client: ECRClient,
  { registry, repository }: Repository,
  rules: readonly KeepRule[],
): Promise<void> {
  const about = { registryId: ecrHost(registry)?.account, repositoryName: repository };
  const what = `the lifecycle policy of ${repository}`;
  const standing = await client.send(new GetLifecyclePolicyCommand(about)).catch((cause: unknown) => {
    if (cause instanceof LifecyclePolicyNotFoundException) return undefined;
    throw refused(what, cause);
  });
  const there = standing?.lifecyclePolicyText;
  const text = lifecyclePolicy(repository, rules);
  if (there === text || (there !== undefined && !there.includes(`"description":"${OURS}`))) return;
  await client
    .send(new PutLifecyclePolicyCommand({ ...about, lifecyclePolicyText: text }))
    .catch((cause: unknown) => {
      throw refused(what, cause);
    });
}

/**
 * An image that matches a rule is not deleted by the rules behind it, so what is to stay comes first.
 *
 * @see https://docs.aws.amazon.com/AmazonECR/latest/userguide/lifecycle_policy_parameters.html
 */
function lifecyclePolicy(repository: string, rules: readonly KeepRule[]): string {
  const limited = rules.filter(({ keep }) => keep !== undefined);
  const wanted = [
    { pattern: 'keep-*', count: 10_000, why: 'what a tag keep-* names stays' },
    ...rules.map(({ tag }) => ({ pattern: tag, count: 1, why: `what ${tag} names stays` })),
    ...limited.map(({ tag, keep = 0 }) => ({
      pattern: `${tag}-2*-*`,
      count: keep,
      why: `old images of ${tag}`,
    })),
  ];
  if (wanted.length > MOST_RULES) {
    throw new PipelineError(
      'too-large',
      `the lifecycle policy of ${repository} needs ${wanted.length} rules, but ECR allows ${MOST_RULES}`,
      { hint: 'publish fewer catalogs to one repository' },
    );
  }
  return JSON.stringify({
    rules: wanted.map(({ pattern, count, why }, i) => ({
      rulePriority: i + 1,
      description: `${OURS}${why}`,
      selection: {
        tagStatus: 'tagged',
        tagPatternList: [pattern],
        countType: 'imageCountMoreThan',
        countNumber: count,
      },
      action: { type: 'expire' },
    })),
  });
}

function refused(what: string, cause: unknown): PipelineError {
  const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  const message = `cannot get ${what} from ECR: ${why}`;
  return new PipelineError(codeOf(cause), message, { cause, retryable: isRetryable(cause) });
}
