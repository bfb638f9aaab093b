/** A repository on the fake GitHub: its people, its pull requests, and what was said about them. */
import type { TestRepository } from '../repository.ts';
import { graphqlRoutes } from './graphql.ts';
import { labelRoutes } from './labels.ts';
import { type FakeReviewComment, reviewRoutes } from './reviews.ts';
import { type Answer, type Asked, type GitHubServer, NotFound, type Routes, startGitHub } from './server.ts';
import { headOwner, pullData, writingRoutes } from './writing.ts';

export interface Account {
  readonly login: string;
  readonly id: number;
  readonly type?: 'User' | 'Bot';
}

export interface FakePull {
  readonly number: number;
  author: string;
  base: string;
  /** The branch that it is for; `main` when left out. */
  into?: string;
  head: string;
  /** The branch of the head, and who pushed it there. */
  branch: string;
  pusher: string | undefined;
  draft: boolean;
  state: 'open' | 'closed';
  labels: string[];
  reviews: { by: string; state: string; commit: string | null }[];
  title?: string;
  body?: string;
  merged?: boolean;
  /** Commits that GitHub lists; those of git when left out. */
  commits?: FakeCommit[];
}

export interface FakeCommit {
  readonly sha: string;
  readonly author: string | null;
  readonly message?: string;
  /** How many it has, or which. */
  readonly parents?: number | readonly string[];
  readonly verified?: boolean;
}

export interface FakeComment {
  readonly id: number;
  readonly by: string;
  body: string;
  /** When it was written, ISO 8601; now without it. */
  readonly at?: string;
}

export interface FakeForge extends GitHubServer {
  readonly accounts: Account[];
  readonly teams: Map<string, string[]>;
  readonly pulls: Map<number, FakePull>;
  readonly comments: Map<number, FakeComment[]>;
  // biome-ignore lint/suspicious/noExplicitAny: what was sent, judged by the description
  readonly statuses: any[];
  readonly reviewComments: FakeReviewComment[];
  /** How many comments each review brought. */
  readonly reviewPosts: number[];
  /** Labels of the repository, by name, with their colours. */
  readonly labels: Map<string, string>;
  /** Who was asked for a review. */
  readonly requests: { number: number; login: string }[];
  /** Accounts that are no collaborators. */
  readonly outsiders: Set<string>;
  // biome-ignore lint/suspicious/noExplicitAny: what was sent, judged by the description
  readonly checkRuns: any[];
  /** What was told to workflows. */
  // biome-ignore lint/suspicious/noExplicitAny: what was sent, judged by the description
  readonly dispatches: any[];
  readonly merges: { number: number; sha: string; method: string }[];
  readonly enqueued: { number: number; head: string }[];
  readonly deployments: {
    id: number;
    ref: string;
    environment: string;
    states: string[];
    payload: unknown;
  }[];
  /** Entries of the merge queue, the first to be merged first. */
  readonly queue: { number: number; head: string; base: string; pullHead: string }[];
  /** Whether the token may read the merge queue; a job's own may not. */
  readsQueues: boolean;
  rules: string[];
  /** Check runs of others at a commit. */
  readonly checks: {
    name: string;
    head: string;
    app: number;
    suite: number;
    status: string;
    conclusion: string | null;
  }[];
  readonly workflows: { suite: number; path: string; head: string }[];
  /** Who the token belongs to: a user, or nobody as with a job's own token. */
  self: string | undefined;
  /** The login under which comments are written. */
  writer: string;
}

export const TOKEN = 'ghs_0123456789abcdef';
export const ACTIONS_BOT: Account = { login: 'github-actions[bot]', id: 41_898_282, type: 'Bot' };

export async function startForge(
  repository: TestRepository,
  accounts: readonly Account[],
): Promise<FakeForge> {
  const state = {
    accounts: [...accounts, ACTIONS_BOT],
    teams: new Map<string, string[]>(),
    pulls: new Map<number, FakePull>(),
    comments: new Map<number, FakeComment[]>(),
    statuses: [],
    reviewComments: [],
    reviewPosts: [],
    labels: new Map<string, string>(),
    requests: [],
    outsiders: new Set<string>(),
    checkRuns: [],
    dispatches: [],
    merges: [],
    enqueued: [],
    deployments: [],
    queue: [],
    readsQueues: true,
    rules: [],
    checks: [],
    workflows: [],
    self: undefined,
    writer: ACTIONS_BOT.login,
  };
  let forge: FakeForge;
  let all: Routes | undefined;
  const routes: Routes = new Proxy({} as Routes, {
    get: (_, operation: string) => {
      all ??= routesOf(forge, repository);
      return all[operation];
    },
  });
  const server = await startGitHub({ routes, repository: repository.directory, token: TOKEN });
  forge = Object.assign(server, state) as FakeForge;
  return forge;
}

function routesOf(forge: FakeForge, repository: TestRepository): Routes {
  const account = (login: string | null | undefined) => {
    const found = forge.accounts.find((one) => one.login.toLowerCase() === login?.toLowerCase());
    return found ? { type: 'User', ...found } : null;
  };
  const pull = ({ path }: Asked): FakePull => {
    const found = forge.pulls.get(Number(path['pull_number']));
    if (!found) throw new NotFound();
    return found;
  };
  const git = (...parameters: string[]): string => repository.git(...parameters);
  return {
    ...writingRoutes(forge, repository, account),
    'GET /repos/{owner}/{repo}/pulls/{pull_number}': (asked) => ({
      data: pullData(pull(asked), account, forge),
    }),
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews': (asked) =>
      paged(
        asked,
        pull(asked).reviews.map(({ by, state, commit }, i) => ({
          id: i + 1,
          user: account(by),
          state,
          commit_id: commit,
          submitted_at: `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`,
        })),
      ),
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits': (asked) =>
      paged(
        asked,
        commitsOf(pull(asked), git).map((one) => commitData(one, account)),
      ),
    'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge': (asked) => mergeAnswer(forge, pull(asked), asked),
    'GET /repos/{owner}/{repo}/activity': ({ query }) => ({
      data: [...forge.pulls.values()]
        .filter(({ branch, pusher }) => pusher !== undefined && query['ref'] === `refs/heads/${branch}`)
        .map(({ head, pusher }) => ({
          before: head,
          after: head,
          activity_type: 'push',
          actor: account(pusher),
        })),
    }),
    'GET /repos/{owner}/{repo}/compare/{basehead}': ({ path, query }) => {
      const [base = '', head = ''] = (path['basehead'] ?? '').split('...');
      const ancestor = attempt(() => git('merge-base', base, head));
      if (ancestor === undefined) return { status: 404 };
      const pull = [...forge.pulls.values()].find((one) => one.head === head);
      const ahead = pull?.commits ?? commitsBetween({ base, head, author: pull?.author ?? null }, git);
      const most = Number(query['per_page'] ?? 30);
      const from = (Number(query['page'] ?? 1) - 1) * most;
      return {
        data: {
          base_commit: { sha: git('rev-parse', base) },
          merge_base_commit: { sha: ancestor },
          total_commits: ahead.length,
          commits: ahead.slice(from, from + most).map((one) => commitData(one, account)),
        },
      };
    },
    'GET /repos/{owner}/{repo}/git/ref/{ref}': ({ path }) => {
      const sha = attempt(() => git('rev-parse', '--verify', `refs/${path['ref']}`));
      return sha === undefined
        ? { status: 404 }
        : { data: { ref: `refs/${path['ref']}`, object: { type: 'commit', sha } } };
    },
    'GET /repos/{owner}/{repo}/contents/{path}': ({ path, query }) => {
      const blob = attempt(() => git('rev-parse', '--verify', `${query['ref']}:${path['path']}`));
      if (blob === undefined) return { status: 404 };
      const content = Buffer.from(git('cat-file', 'blob', blob)).toString('base64');
      return { data: { type: 'file', encoding: 'base64', path: path['path'], sha: blob, content } };
    },
    'GET /repos/{owner}/{repo}/commits': ({ query }) => {
      const most = `--max-count=${query['per_page'] ?? 30}`;
      const log = git('log', most, '--format=%H %T %cI', query['sha'] ?? 'main', '--', query['path'] ?? '.');
      const listed = log
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' '));
      return {
        data: listed.map(([sha, tree, date]) => ({
          sha,
          commit: { tree: { sha: tree }, committer: { date } },
        })),
      };
    },
    'GET /repos/{owner}/{repo}/commits/{ref}/check-runs': ({ path, query }) => {
      const own = forge.checkRuns.map(({ name, head_sha: head, id, external_id, status, conclusion }) => {
        return { ...{ id, name, head, external_id, status, conclusion }, app: 15368, suite: 900 };
      });
      const others = forge.checks.map((run, i) => ({ id: 1000 + i, external_id: '', ...run }));
      const runs = [...others, ...own]
        .filter(({ head, name }) => head === path['ref'] && name === (query['check_name'] ?? name))
        .map(({ app, suite, head, ...run }) => ({
          ...run,
          head_sha: head,
          app: { id: app },
          check_suite: { id: suite },
        }));
      return { data: { total_count: runs.length, check_runs: runs } };
    },
    'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls': ({ path }) => ({
      data: [...forge.pulls.values()]
        // GitHub finds none for commits that only a fork has.
        .filter((one) => one.head === path['commit_sha'] && headOwner(one) === 'example')
        .map(({ number, state, head }) => ({ number, state, head: { sha: head } })),
    }),
    'GET /repos/{owner}/{repo}/actions/runs': ({ query }) => ({
      data: {
        total_count: forge.workflows.length,
        workflow_runs: forge.workflows
          .filter(({ head }) => head === query['head_sha'])
          .map(({ suite, path, head }) => ({ check_suite_id: suite, path, head_sha: head })),
      },
    }),
    'POST /repos/{owner}/{repo}/check-runs': ({ body }) => {
      forge.checkRuns.push({ ...body, id: forge.checkRuns.length + 1, annotations: body.output.annotations });
      return { status: 201, data: { id: forge.checkRuns.length, name: body.name, head_sha: body.head_sha } };
    },
    'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}': ({ path, body }) => {
      const run = forge.checkRuns[Number(path['check_run_id']) - 1];
      Object.assign(run, body, { annotations: [...run.annotations, ...body.output.annotations] });
      return { data: { id: run.id, name: run.name, head_sha: run.head_sha } };
    },
    'POST /repos/{owner}/{repo}/statuses/{sha}': ({ path, body }) => {
      const id = forge.statuses.length + 1;
      forge.statuses.push({
        sha: path['sha'],
        ...body,
        creator: account(forge.writer),
        created_at: new Date().toISOString(),
      });
      return { status: 201, data: { id, state: body.state, context: body.context } };
    },
    'GET /repos/{owner}/{repo}/commits/{ref}/statuses': (asked) =>
      paged(
        asked,
        forge.statuses
          .map((status, i) => ({ id: i + 1, target_url: null, creator: null, ...status }))
          .filter(({ sha }) => sha === asked.path['ref'])
          .reverse(),
      ),
    'POST /repos/{owner}/{repo}/dispatches': ({ body }) => {
      forge.dispatches.push(body);
      return { status: 204 };
    },
    'GET /repos/{owner}/{repo}/issues/{issue_number}/comments': (asked) =>
      paged(
        asked,
        (forge.comments.get(Number(asked.path['issue_number'])) ?? []).map(({ id, by, body, at }) => ({
          id,
          body,
          created_at: at ?? new Date().toISOString(),
          user: account(by),
        })),
      ),
    'POST /repos/{owner}/{repo}/issues/{issue_number}/comments': ({ path, body }) => {
      const number = Number(path['issue_number']);
      const known = forge.comments.get(number) ?? [];
      const comment = { id: 1000 + known.length, by: forge.writer, body: body.body as string };
      forge.comments.set(number, [...known, comment]);
      return { status: 201, data: { id: comment.id, body: comment.body } };
    },
    'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}': ({ path, body }) => {
      const comment = [...forge.comments.values()].flat().find(({ id }) => id === Number(path['comment_id']));
      if (!comment) return { status: 404 };
      if (comment.by !== forge.writer) return { status: 403 };
      comment.body = body.body;
      return { data: { id: comment.id, body: comment.body } };
    },
    'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}': ({ path }) => {
      for (const [number, comments] of forge.comments)
        forge.comments.set(
          number,
          comments.filter(({ id }) => id !== Number(path['comment_id'])),
        );
      return { status: 204 };
    },
    'GET /repos/{owner}/{repo}/rules/branches/{branch}': () => ({
      data: forge.rules.map((type) => ({ type })),
    }),
    'POST /repos/{owner}/{repo}/deployments': ({ body }) => {
      const deployment = { id: forge.deployments.length + 1, states: [] as string[], ...body };
      forge.deployments.push(deployment);
      return { status: 201, data: { id: deployment.id, ref: body.ref, environment: body.environment } };
    },
    'GET /repos/{owner}/{repo}/deployments': ({ query }) => ({
      data: forge.deployments
        .filter(({ environment }) => environment === query['environment'])
        .reverse()
        .map(({ id, ref, environment, payload }) => ({ id, ref, sha: ref, environment, payload })),
    }),
    'POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses': ({ path, body }) => {
      forge.deployments[Number(path['deployment_id']) - 1]?.states.push(body.state);
      return { status: 201, data: { state: body.state } };
    },
    'GET /repos/{owner}/{repo}': () => ({ data: { name: 'catalogs', default_branch: 'main' } }),
    'GET /orgs/{org}/teams/{team_slug}': ({ path }) =>
      forge.teams.has(`${path['org']}/${path['team_slug']}`)
        ? { data: { slug: path['team_slug'] } }
        : { status: 404 },
    'GET /orgs/{org}/teams/{team_slug}/members': (asked) =>
      paged(asked, (forge.teams.get(`${asked.path['org']}/${asked.path['team_slug']}`) ?? []).map(account)),
    'GET /users/{username}': ({ path }) => {
      const found = account(path['username']);
      return found ? { data: found } : { status: 404 };
    },
    'GET /user': () => (forge.self === undefined ? { status: 403 } : { data: account(forge.self) }),
    'GET /app': () => ({ status: 401 }),
    ...reviewRoutes(forge, repository, account),
    ...labelRoutes(forge),
    ...graphqlRoutes(forge, repository, account),
  };
}

function commitsOf(pull: FakePull, git: TestRepository['git']): readonly FakeCommit[] {
  return pull.commits ?? commitsBetween(pull, git);
}

/** The commits that a head has and a base has not, the oldest first. */
function commitsBetween(
  { base, head, author }: { readonly base: string; readonly head: string; readonly author: string | null },
  git: TestRepository['git'],
): readonly FakeCommit[] {
  const listed = attempt(() => git('rev-list', '--reverse', '--parents', `${base}..${head}`)) ?? '';
  return listed
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [sha = '', ...parents] = line.split(' ');
      return { sha, author, parents };
    });
}

function commitData(
  { sha, author, message = 'a change', parents = 1, verified = false }: FakeCommit,
  account: (login: string | null) => unknown,
) {
  const signer = {
    name: author ?? 'nobody',
    email: `${author ?? 'nobody'}@example.com`,
    date: '2026-01-01T00:00:00Z',
  };
  return {
    sha,
    author: account(author),
    committer: account(author),
    parents: (typeof parents === 'number' ? Array<string>(parents).fill(sha) : parents).map((one) => ({
      sha: one,
    })),
    commit: { author: signer, committer: signer, message, verification: { verified } },
  };
}

function mergeAnswer(forge: FakeForge, pull: FakePull, { body }: Asked): Answer {
  // Without one GitHub merges whatever the head is.
  if (body.sha !== undefined && body.sha !== pull.head)
    return { status: 409, data: { message: 'Head branch was modified. Review and try the merge again.' } };
  forge.merges.push({ number: pull.number, sha: pull.head, method: body.merge_method });
  pull.state = 'closed';
  pull.merged = true;
  return { data: { sha: pull.head, merged: true, message: 'merged' } };
}

/** One page of a list, with the link to the next. */
function paged({ query, url }: Asked, all: readonly unknown[]): Answer {
  const size = Number(query['per_page'] ?? 30);
  const page = Number(query['page'] ?? 1);
  const data = all.slice((page - 1) * size, page * size);
  if (page * size >= all.length) return { data };
  const next = new URL(url);
  next.searchParams.set('page', String(page + 1));
  return { data, headers: { link: `<${next.href}>; rel="next"` } };
}

function attempt(act: () => string): string | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
