/** A registry that makes ECR's repositories when something is first sent to them, and gives them rules for old images. */
import { ECRClient } from '@aws-sdk/client-ecr';
import { repositoryName } from '../../catalog/reference.ts';
import { PipelineError } from '../../pipeline/error.ts';
import type { Registry, Repository } from '../../pipeline/ports.ts';
import { ecrHost } from '../ecr/credentials.ts';
import { ASKING } from '../s3/client.ts';
import { deleteFromEcr, ensureEcrRepository, keepInEcr } from './ecr.ts';

/** @throws PipelineError `denied` from `putBlob` when the role may not make a repository that is not there */
export function makingRepositories(registry: Registry): Registry {
  const made = new Map<string, Promise<unknown>>();
  const ensure = async (repository: Repository): Promise<void> => {
    const host = ecrHost(repository.registry);
    if (!host) return;
    const name = repositoryName(repository);
    const known = made.get(name);
    if (known) return void (await known);
    // Its tags must move: the catalog's own is one of them.
    const making = ensureEcrRepository(new ECRClient({ ...ASKING, region: host.region }), repository, false);
    made.set(name, making);
    // What failed is tried again.
    making.catch(() => made.delete(name));
    await making;
  };
  return {
    ...registry,
    keepImages: async (of, rules) => {
      const host = ecrHost(of.registry);
      if (host) await keepInEcr(new ECRClient({ ...ASKING, region: host.region }), of, rules);
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
