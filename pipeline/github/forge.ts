/** GitHub as a forge. */

import { PipelineError } from '../error.ts';
import type { GateForge, RepositoryName } from '../forge/forge.ts';
import type { ForgePorts } from '../forge/gate.ts';
import { readRequiredChecks } from './checks.ts';
import type { GitHub } from './client.ts';
import { readDirectory } from './directory.ts';
import { involvePeople } from './involve.ts';
import { pathHistory } from './path-changes.ts';
import { ownAccount, type PostRequest, postCheck, postComment, postStatus } from './post-report.ts';
import { askAgain, askOpen, askReviewed } from './pull-queries.ts';
import {
  readCommits,
  readFile,
  readLeftAt,
  readOpen,
  readPullRequest,
  readPusher,
  readReviews,
  readSides,
  readStatuses,
  readTip,
} from './pull-request.ts';

/** Annotations in all, as the Action has it. */
const ANNOTATIONS = 200;

/** GitHub, and where what is posted links to. */
interface GitHubPlace extends Partial<Pick<PostRequest, 'link' | 'server' | 'annotations' | 'unposted'>> {
  readonly github: GitHub;
  readonly repository: RepositoryName;
}

/** GitHub as the gate sees it. */
export function gitHubForge(place: GitHubPlace): GateForge {
  const { github, repository, link, server, unposted, annotations = ANNOTATIONS } = place;
  const posting: PostRequest = { github, repository, link, server, annotations, unposted, said: undefined };
  const history = pathHistory(github, repository);
  return {
    name: 'GitHub',
    repository,
    missingGuarantees: [],
    readPull: (number) => readPullRequest(github, repository, number),
    readOpen: async () => (await askOpen(github, repository)) ?? readOpen(github, repository),
    readReviewed: (number) => askReviewed(github, repository, number),
    readAgain: async (numbers, branches) => {
      const asked = await askAgain(github, repository, numbers, branches);
      posting.said = asked && { of: asked.said, at: Date.now() };
      return asked;
    },
    readStatuses: (commit) => readStatuses(github, repository, commit),
    readReviews: (number) => readReviews(github, repository, number),
    readCommits: (number) => readCommits(github, repository, number),
    readPusher: (pull) => readPusher(github, pull),
    readDirectory: (identities) => readDirectory(github, identities, history),
    readChecks: (commit, required) => readRequiredChecks(github, repository, { commit, required }),
    readSelf: () => ownAccount(github),
    readTip: (branch) => readTip(github, repository, branch),
    readFile: (branch, path) => readFile(github, repository, { branch, path }),
    readPathChanges: (commit, path, most) => history.read({ commit, path, most }),
    expectPathChanges: history.expect,
    ancestry: {
      readSides: (base, head) => readSides(github, repository, { base, head }),
      readLeftAt: (base, commit) => readLeftAt(github, repository, { base, commit }),
    },
    postStatus: (status) => postStatus(posting, status),
    postFindings: ({ report }) => postCheck(posting, { commit: report.head, report }),
    postComment: (about) => postComment(posting, about),
    involve: (about, involving) => involvePeople(posting, about, involving),
  };
}

// The gate on GitHub.

/** GitHub, and how its repositories are read. */
export interface GatePorts extends Omit<ForgePorts, 'forge'> {
  readonly github: GitHub;
  readonly repository: RepositoryName;
}

/** Reads `owner/name`. @throws PipelineError `usage` for anything but `owner/name` */
export function repositoryName(text: string): RepositoryName {
  const [, owner, repo] = /^([A-Za-z0-9_.-]+)\/([A-Za-z0-9_.-]+)$/.exec(text) ?? [];
  if (owner === undefined || repo === undefined)
    throw new PipelineError('usage', `invalid repository ${JSON.stringify(text)}: expected OWNER/NAME`);
  return { owner, repo };
}
