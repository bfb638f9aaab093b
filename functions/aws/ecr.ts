/** ECR as a registry: its repositories must be made before anything is pushed. */
import {
  BatchDeleteImageCommand,
  CreateRepositoryCommand,
  DescribeRepositoriesCommand,
  ECRClient,
  GetLifecyclePolicyCommand,
  LifecyclePolicyNotFoundException,
  PutLifecyclePolicyCommand,
  RepositoryAlreadyExistsException,
  RepositoryNotFoundException,
} from '@aws-sdk/client-ecr';
import { isObject } from '../../catalog/go/shape.ts';
import { parsedJson } from '../../catalog/json.ts';
import { formatReference, type Reference, repositoryName } from '../../catalog/reference.ts';
import { PipelineError } from '../../pipeline/error.ts';
import type { KeepRule, Registry, Repository } from '../../pipeline/ports.ts';
import { ecrFailure, ecrHost } from '../ecr/credentials.ts';
import { ASKING } from '../s3/failure.ts';

/**
 * Makes a repository where there is none. One that is there stays as its owner set it up.
 *
 * @returns whether it was made
 * @throws PipelineError `denied` when the role may not make it
 */
export async function ensureEcrRepository(
  client: ECRClient,
  { registry, repository }: Repository,
): Promise<boolean> {
  // Else it is one of the function's own account.
  const registryId = ecrHost(registry)?.account;
  try {
    await client.send(new DescribeRepositoriesCommand({ registryId, repositoryNames: [repository] }));
    return false;
  } catch (cause) {
    if (!(cause instanceof RepositoryNotFoundException))
      throw ecrFailure(`the repository ${repository}`, cause);
  }
  try {
    // The published tag moves.
    const imageTagMutability = 'MUTABLE';
    await client.send(
      new CreateRepositoryCommand({ registryId, repositoryName: repository, imageTagMutability }),
    );
    return true;
  } catch (cause) {
    // Somebody else made it meanwhile.
    if (cause instanceof RepositoryAlreadyExistsException) return false;
    throw ecrFailure(`the repository ${repository}`, cause);
  }
}

/**
 * Removes a tag, or an image with all its tags: ECR does so by its own API only.
 *
 * @returns false when there was none
 * @throws PipelineError `denied` when the role may not
 */
async function deleteFromEcr(client: ECRClient, reference: Reference): Promise<boolean> {
  const { registry, repository } = reference;
  const imageId = reference.kind === 'tag' ? { imageTag: reference.tag } : { imageDigest: reference.digest };
  // Messages begin with "cannot get".
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
      throw ecrFailure(what, cause);
    });
  const [failure] = failures;
  if (!failure) return true;
  if (failure.failureCode === 'ImageNotFound') return false;
  throw new PipelineError('conflict', `cannot get ${what}: ${failure.failureCode}: ${failure.failureReason}`);
}

/** Begins the description of each rule that Portolan writes: a policy with another rule is the owner's. */
const OURS = 'portolan: ';
/** Rules of a policy at most, as ECR allows. */
const MOST_RULES = 50;

/**
 * Has ECR delete old images. A repository whose owner has written a lifecycle policy keeps that one.
 *
 * @throws PipelineError `denied` when the role may not, `too-large` for more tags than ECR has rules
 */
async function keepInEcr(
  client: ECRClient,
  { registry, repository }: Repository,
  rules: readonly KeepRule[],
): Promise<void> {
  const about = { registryId: ecrHost(registry)?.account, repositoryName: repository };
  const what = `the lifecycle policy of ${repository}`;
  const standing = await client.send(new GetLifecyclePolicyCommand(about)).catch((cause: unknown) => {
    if (cause instanceof LifecyclePolicyNotFoundException) return undefined;
    throw ecrFailure(what, cause);
  });
  const before = standing?.lifecyclePolicyText;
  const text = lifecyclePolicy(repository, rules);
  // ECR gives the text of a policy as it was written.
  if (before === text || (before !== undefined && !isOurs(before))) return;
  await client
    .send(new PutLifecyclePolicyCommand({ ...about, lifecyclePolicyText: text }))
    .catch((cause: unknown) => {
      throw ecrFailure(what, cause);
    });
}

/** Whether Portolan wrote every rule of a lifecycle policy: a rule that somebody added would be lost. */
function isOurs(policy: string): boolean {
  const value = parsedJson(policy);
  const rules = isObject(value) && Array.isArray(value['rules']) ? value['rules'] : [];
  return (
    rules.length > 0 && rules.every((rule) => isObject(rule) && String(rule['description']).startsWith(OURS))
  );
}

/**
 * The lifecycle policy of a repository. An image that matches a rule is not deleted by the rules behind it,
 * so what is to stay comes first.
 *
 * @see https://docs.aws.amazon.com/AmazonECR/latest/userguide/lifecycle_policy_parameters.html
 */
function lifecyclePolicy(repository: string, rules: readonly KeepRule[]): string {
  const limited = rules.filter(({ keep }) => keep !== undefined);
  const ordered = [
    // ECR has no rule that keeps all: this is far more than people tag by hand.
    { pattern: 'keep-*', count: 10_000, why: 'what a tag keep-* names stays' },
    ...rules.map(({ tag }) => ({ pattern: tag, count: 1, why: `what ${tag} names stays` })),
    ...limited.map(({ tag, keep = 0 }) => ({
      // Immutable tags: the published tag, the commit's time (20260131…) and its id.
      pattern: `${tag}-2*-*`,
      count: keep,
      why: `old images of ${tag}`,
    })),
  ];
  if (ordered.length > MOST_RULES) {
    throw new PipelineError(
      'too-large',
      `the lifecycle policy of ${repository} needs ${ordered.length} rules, but ECR allows ${MOST_RULES}`,
      { hint: 'publish fewer catalogs to one repository' },
    );
  }
  return JSON.stringify({
    rules: ordered.map(({ pattern, count, why }, i) => ({
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

// A registry that makes ECR's repositories when something is first sent to them, and gives them rules for
// old images.

/**
 * A registry client that makes missing repositories in ECR, gives them rules for old images, and deletes by ECR's API.
 *
 * @throws PipelineError `denied` from `putBlob` if the role may not
 */
export function makingRepositories(registry: Registry): Registry {
  const made = new Map<string, Promise<unknown>>();
  const ensure = async (repository: Repository): Promise<void> => {
    const host = ecrHost(repository.registry);
    if (!host) return;
    const name = repositoryName(repository);
    const earlier = made.get(name);
    if (earlier) return void (await earlier);
    // Its tags must move: the catalog's own is one of them.
    const making = ensureEcrRepository(new ECRClient({ ...ASKING, region: host.region }), repository);
    made.set(name, making);
    // What failed is tried again.
    making.catch(() => made.delete(name));
    await making;
  };
  return {
    ...registry,
    keepImages: async (repository, rules) => {
      const host = ecrHost(repository.registry);
      if (host) await keepInEcr(new ECRClient({ ...ASKING, region: host.region }), repository, rules);
      return host !== undefined;
    },
    deleteManifest: async (reference, how) => {
      const host = ecrHost(reference.registry);
      if (!host) return registry.deleteManifest(reference, how);
      return deleteFromEcr(new ECRClient({ ...ASKING, region: host.region }), reference);
    },
    putBlob: async (to, blob, options) => {
      await ensure(to);
      try {
        return await registry.putBlob(to, blob, options);
      } catch (error) {
        // Somebody has removed it since: the next try makes it again.
        if (error instanceof PipelineError && error.code === 'not-found') made.delete(repositoryName(to));
        throw error;
      }
    },
  };
}
