/** The state of a proposed change on GitHub: its branch and its pull requests. */

import { isWithin } from '../../change/catalogs.ts';
import type { RepositoryName } from '../../forge/forge.ts';
import { parseTrailers } from '../../git/commit.ts';
import type { Repository } from '../../git/repository.ts';
import { diffTrees, entryAt, type PathChange } from '../../git/tree.ts';
import { answerIfAny, dataOf, type GitHub } from '../client.ts';
import type { Placing } from '../git-data.ts';
import { readSides } from '../pull-request.ts';

/** The line of a commit message with the key of the change. */
export const TRAILER = 'Portolan-Proposal';

export interface AtGitHub {
  readonly github: GitHub;
  readonly name: RepositoryName;
}

export interface ProposalPorts extends AtGitHub {
  /** The same repository; it holds every commit that a change was made on. */
  readonly repository: Repository;
}

const NEWEST_FIRST = { sort: 'created', direction: 'desc' } as const;

/** The state of a subject's proposals. */
export interface ProposalState {
  /** Id of the branch's newest commit. */
  readonly commit: string | undefined;
  /** Which change the branch makes; undefined for a commit of somebody else. */
  readonly key: string | undefined;
  readonly open: Pull | undefined;
}

export interface Pull {
  readonly number: number;
  readonly url: string;
  readonly title: string;
  readonly body: string;
  readonly head: string;
  readonly merged: boolean;
}

interface Place {
  readonly branch: string;
  readonly base: string;
}

/** The pull request and the branch of a proposal, as they are now. @throws PipelineError as the client */
export async function readState(ports: AtGitHub, place: Place): Promise<ProposalState> {
  const { github, name } = ports;
  const ref = { ...name, ref: `heads/${place.branch}` };
  const found = await answerIfAny(github.rest.git.getRef(ref));
  const commit = found?.object.sha;
  const [open] = await readPulls(ports, place, 'open');
  return { commit, key: commit === undefined ? undefined : await keyAt(ports, commit), open };
}

/** Pull requests from a branch of the repository itself, the newest first. */
export async function readPulls(
  { github, name }: AtGitHub,
  { branch, base }: Place,
  state: 'open' | 'closed',
): Promise<Pull[]> {
  const asked = { ...name, state, head: `${name.owner}:${branch}`, base, ...NEWEST_FIRST };
  const pulls = await dataOf(github.rest.pulls.list(asked));
  const own = `${name.owner}/${name.repo}`.toLowerCase();
  return (
    pulls
      // A fork of the same owner may have a branch of this name.
      .filter(({ head }) => head.repo?.full_name.toLowerCase() === own && head.ref === branch)
      .map(({ number, html_url: url, title, body, head, merged_at: merged }) => ({
        number,
        url,
        title,
        body: body ?? '',
        head: head.sha,
        merged: merged !== null,
      }))
  );
}

/** Merges of the base branch that are looked behind: GitHub's button makes them. */
const MERGES = 20;

/** The key of the change that a commit makes; undefined for a commit that Portolan did not make. */
export async function keyAt({ github, name }: AtGitHub, commit: string): Promise<string | undefined> {
  let id = commit;
  for (let i = 0; i < MERGES; i++) {
    const asked = { ...name, commit_sha: id };
    const found = await answerIfAny(github.rest.git.getCommit(asked));
    const trailer = parseTrailers(found?.message ?? '').find(({ key }) => key === TRAILER.toLowerCase());
    const [first, ...others] = found?.parents ?? [];
    if (trailer || !first || others.length === 0) return trailer?.value;
    id = first.sha;
  }
  return undefined;
}

/**
 * Whether a commit of a branch makes a change, and no other: whoever pushes to the branch may write the key of one.
 *
 * @throws PipelineError as the client and the fetching
 */
export async function makesChange(
  { github, name, repository }: ProposalPorts,
  { base, commit }: { readonly base: string; readonly commit: string | undefined },
  placings: readonly Placing[],
): Promise<boolean> {
  const sides = commit && (await readSides(github, name, { base, head: commit }));
  if (!sides || sides.ancestor === undefined) return false;
  const { ancestor: before, head } = sides;
  await repository.bring([before, head]);
  const { objects } = repository;
  const { changes } = await diffTrees(objects, { before, after: head }, Number.POSITIVE_INFINITY);
  const isPlaced = ({ path }: PathChange): boolean =>
    placings.some((placing) => isWithin(path, placing.path));
  if (!changes.every(isPlaced)) return false;
  for (const { path, after } of placings) {
    const entry = await entryAt(objects, head, path);
    if (entry?.id !== after?.id || entry?.mode !== after?.mode) return false;
  }
  return true;
}

/** Names of the branches that begin with a text. @throws PipelineError as the client */
export async function branchesBelow({ github, name }: AtGitHub, prefix: string): Promise<string[]> {
  const asked = { ...name, ref: `heads/${prefix}` };
  const refs = await dataOf(github.rest.git.listMatchingRefs(asked));
  return refs.map(({ ref }) => ref.slice('refs/heads/'.length));
}
