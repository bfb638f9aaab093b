/** What stands at a destination before a copy: asked once a repository. */
import { repositoryName } from '../../catalog/reference.ts';
import { PipelineError } from '../error.ts';
import type { Registry, Repository } from '../ports.ts';

/** The tags of repositories, each listed once. */
export interface TagLists {
  /** Undefined where they cannot be listed, or are too many to be worth it. */
  of(repository: Repository): Promise<ReadonlySet<string> | undefined>;
}

/** Tags that are read of one repository at most. */
const MOST_TAGS = 5000;

/** Lists the tags of each repository once, for all images of it. */
export function createTagLists(registry: Pick<Registry, 'listTags'>): TagLists {
  const lists = new Map<string, Promise<ReadonlySet<string> | undefined>>();
  return {
    of: (repository) => {
      const name = repositoryName(repository);
      const tags = lists.get(name) ?? readTags(registry, repository);
      lists.set(name, tags);
      return tags;
    },
  };
}

/** The tags of a repository; undefined if there are too many, or if they may not be listed. */
async function readTags(
  registry: Pick<Registry, 'listTags'>,
  repository: Repository,
): Promise<ReadonlySet<string> | undefined> {
  const tags = new Set<string>();
  try {
    for await (const tag of registry.listTags(repository)) {
      tags.add(tag);
      if (tags.size > MOST_TAGS) return undefined;
    }
    return tags;
  } catch (error) {
    // An account that may pull an image may lack the permission to list its tags.
    if (error instanceof PipelineError) return undefined;
    throw error;
  }
}
