/** GitHub as a forge. */
import type { GateForge, RepositoryName } from '../forge/forge.ts';
import { readRequiredChecks } from './checks.ts';
import { answerIfAny, type GitHub } from './client.ts';
import { readDirectory } from './directory.ts';
import { involve } from './involve.ts';
import { type PostRequest, postCheck, postComment, postStatus } from './post-report.ts';
import {
  readCommits,
  readLeftAt,
  readPullRequest,
  readPusher,
  readReviews,
  readSides,
  readTip,
} from './pull-request.ts';

/** Annotations in all, as the Action has it. */
const ANNOTATIONS = 200;

export function gitHubForge({
  github,
  repository,
}: {
  readonly github: GitHub;
  readonly repository: RepositoryName;
}): GateForge {
  const posting: PostRequest = { github, repository, link: undefined, annotations: ANNOTATIONS };
  return {
    name: 'GitHub',
    repository,
    lacks: [],
    readPull: (number) => readPullRequest(github, repository, number),
    readReviews: (number) => readReviews(github, repository, number),
    readCommits: (number) => readCommits(github, repository, number),
    readPusher: (pull) => readPusher(github, pull),
    readDirectory: (identities) => readDirectory(github, identities),
    readChecks: (commit, required) => readRequiredChecks(github, repository, { commit, required }),
    readTip: (branch) => readTip(github, repository, branch),
    readPathChanges: async (commit, path, most) => {
      const asked = { ...repository, sha: commit, path, per_page: most };
      const listed = await answerIfAny(github.rest.repos.listCommits(asked));
      return listed?.map(({ sha, commit: { tree, committer } }) => ({
        commit: sha,
        tree: tree.sha,
        date: (committer?.date ?? '').slice(0, 10),
      }));
    },
    ancestry: {
      readSides: (base, head) => readSides(github, repository, { base, head }),
      readLeftAt: (base, commit) => readLeftAt(github, repository, { base, commit }),
    },
    postStatus: (about) => postStatus(posting, about),
    postFindings: ({ report }) => postCheck(posting, { commit: report.head, report }),
    postComment: (about) => postComment(posting, about),
    involve: (about, involving) => involve(posting, about, involving),
  };
}
