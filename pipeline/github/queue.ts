/** Merge queues: which pull requests a group stands for. */
import type { GitHub, RepositoryName } from './client.ts';
import { graphql } from './merge.ts';

const ENTRIES = `query($owner: String!, $repo: String!, $branch: String!) {
  repository(owner: $owner, name: $repo) {
    mergeQueue(branch: $branch) {
      entries(first: 100) {
        nodes { headCommit { oid } baseCommit { oid } pullRequest { number headRefOid } }
      }
    }
  }
}`;

interface Entry {
  readonly headCommit: { readonly oid: string } | null;
  readonly baseCommit: { readonly oid: string } | null;
  readonly pullRequest: { readonly number: number; readonly headRefOid: string } | null;
}

interface Answer {
  readonly repository: {
    readonly mergeQueue: { readonly entries: { readonly nodes: readonly Entry[] } } | null;
  };
}

export interface QueuedRequest {
  readonly number: number;
  /** Id of the head that was queued. */
  readonly head: string;
}

/**
 * The pull requests that lie between two commits of a queue, the last first; undefined when the queue does
 * not tell all of them.
 */
export async function readGroup(
  github: GitHub,
  repository: RepositoryName,
  { branch, base, head }: { readonly branch: string; readonly base: string; readonly head: string },
): Promise<QueuedRequest[] | undefined> {
  const { repository: found } = await graphql<Answer>(github, ENTRIES, { ...repository, branch });
  const entries = new Map(
    (found.mergeQueue?.entries.nodes ?? []).flatMap((entry) =>
      entry.headCommit ? [[entry.headCommit.oid, entry] as const] : [],
    ),
  );
  const group: QueuedRequest[] = [];
  for (let at = head; at !== base; ) {
    const entry = entries.get(at);
    if (!entry?.pullRequest || !entry.baseCommit || group.length > entries.size) return undefined;
    group.push({ number: entry.pullRequest.number, head: entry.pullRequest.headRefOid });
    at = entry.baseCommit.oid;
  }
  return group.length === 0 ? undefined : group;
}
