/** A catalog repository on a fake Forgejo: the people and pull requests of `hub.ts` by Gitea's API, as a real Gitea answered. */
import { readDescription } from './description.ts';
import type { FakePull } from './github/forge.ts';
import type { Bend } from './host.ts';
import type { Hub } from './hub.ts';
import { fileAt, remembering } from './repository.ts';
import { loggedCommits, pageOf, type Route, startRestApi } from './rest-api.ts';

const description = readDescription('gitea-openapi.json');

export const FORGEJO_TOKEN = 'only-a-test';
/** The account that the token is of. */
const SELF = { id: 500, login: 'portolan' };
interface Account {
  readonly id: number;
  readonly login: string;
}

interface FakeReview {
  readonly id: number;
  readonly number: number;
  readonly body: string;
  readonly commit_id: string;
  readonly comments: readonly { path: string; new_position: number; body: string }[];
}

export interface FakeForgejo {
  readonly api: string;
  readonly statuses: { sha: string; context: string; state: string; description: string }[];
  readonly comments: { id: number; number: number; user: Account; body: string }[];
  /** Reviews of the token's account. */
  readonly reviews: FakeReview[];
  /** Members of teams, as `organization/team`; the token's account owns the organizations. */
  readonly teams: Map<string, readonly Account[]>;
  /** Teams whose members the account may not see. */
  readonly hidden: Set<string>;
  /** What the next requests are answered in place of an answer. */
  readonly refusals: number[];
  /** What was asked, as `GET /path`. */
  readonly asked: string[];
}

/** @param bend changes what is answered */
export async function fakeForgejo(hub: Hub, bend: Bend = (_, value) => value): Promise<FakeForgejo> {
  const { forge, repository } = hub;
  // All that is asked of it is of commits by their ids.
  const git = remembering(repository.git);
  const fake: Omit<FakeForgejo, 'api'> = {
    statuses: [],
    comments: [],
    reviews: [],
    teams: new Map(),
    hidden: new Set(),
    refusals: [],
    asked: [],
  };
  const accountOf = (login: string | undefined): Account | null =>
    forge.accounts.find((one) => one.login.toLowerCase() === login?.toLowerCase()) ?? null;
  const pullOf = (number: string | undefined) => forge.pulls.get(Number(number));
  const commitsOf = (...words: readonly string[]) =>
    loggedCommits(git, ...words).map(({ id, author, committer, date, parents, message }) => ({
      sha: id,
      commit: {
        author: { ...author, date },
        committer: { ...committer, date },
        message,
        // Gitea writes the commit's id here, too.
        tree: { sha: id },
        verification: null,
      },
      author: accountOf(author.name),
      committer: accountOf(committer.name),
      parents: parents.map((sha) => ({ sha })),
    }));
  const reviewsOf = (number: string | undefined) => [
    ...(pullOf(number)?.reviews ?? []).map(({ by, state, commit }, i) => ({
      id: i + 1,
      user: accountOf(by),
      state: state === 'CHANGES_REQUESTED' ? 'REQUEST_CHANGES' : state === 'DISMISSED' ? 'APPROVED' : state,
      dismissed: state === 'DISMISSED',
      commit_id: commit,
      body: '',
      submitted_at: `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`,
    })),
    ...fake.reviews
      .filter((review) => review.number === Number(number))
      .map((review) => ({
        ...review,
        user: SELF,
        state: 'COMMENT',
        dismissed: false,
        submitted_at: '2026-01-02T00:00:00Z',
      })),
  ];
  const isOpen = ({ state }: FakePull): boolean => state === 'open';
  const shown = (pull: FakePull | undefined) => {
    if (!pull) return undefined;
    const { number, base, head, branch, draft, state, author, labels } = pull;
    const repo = { name: 'catalogs', owner: { id: 900, login: 'example' } };
    return {
      ...{ number, user: accountOf(author), state, draft, labels: labels.map((name) => ({ name })) },
      base: { ref: pull.into ?? 'main', sha: base },
      head: { ref: branch, sha: head, repo },
    };
  };
  const routes: readonly (readonly [string, Route])[] = [
    ['GET /user', () => SELF],
    ['GET /users/([^/]+)', ([login]) => accountOf(login) ?? 404],
    [
      'GET /orgs/([^/]+)/teams',
      ([organization], query) => {
        const names = [...fake.teams.keys()].map((name) => name.split('/'));
        const teams = names.map(([of, name], i) => ({ of, id: i + 1, name }));
        return pageOf(
          teams.filter(({ of }) => of === organization),
          query,
        );
      },
    ],
    [
      'GET /teams/(\\d+)/members',
      ([id], query) => {
        const [name = '', members = []] = [...fake.teams][Number(id) - 1] ?? [];
        return fake.hidden.has(name) ? 403 : pageOf(members, query);
      },
    ],
    ['GET REPO/pulls/(\\d+)', ([number]) => shown(pullOf(number)) ?? 404],
    ['GET REPO/pulls', (_, query) => pageOf([...forge.pulls.values()].filter(isOpen).map(shown), query)],
    ['GET REPO/pulls/(\\d+)/reviews', ([number], query) => pageOf(reviewsOf(number), query)],
    [
      'POST REPO/pulls/(\\d+)/reviews',
      ([number], _, body) => {
        const review = { ...JSON.parse(body), id: 100 + fake.asked.length, number: Number(number) };
        fake.reviews.push(review);
        return review;
      },
    ],
    [
      'DELETE REPO/pulls/(\\d+)/reviews/(\\d+)',
      ([, id]) => {
        const at = fake.reviews.findIndex((review) => review.id === Number(id));
        if (at < 0) return 404;
        fake.reviews.splice(at, 1);
        return undefined;
      },
    ],
    [
      'GET REPO/pulls/(\\d+)/commits',
      ([number], query) => {
        const pull = pullOf(number);
        return pull ? pageOf(commitsOf(`${pull.base}..${pull.head}`), query) : 404;
      },
    ],
    ['GET REPO/branches/([^/]+)', ([name = '']) => ({ name, commit: { id: hub.tip(name) } })],
    [
      'GET REPO/contents/(.+)',
      ([path = ''], query) => {
        const content = fileAt(repository, hub.tip(query.get('ref') ?? ''), path);
        return content === undefined ? 404 : { type: 'file', encoding: 'base64', content };
      },
    ],
    [
      'GET REPO/commits',
      (_, query) => {
        const commits = commitsOf(query.get('sha') ?? '', '--', query.get('path') ?? '');
        // A path that no commit changed is not found (routers/api/v1/repo/commits.go).
        return commits.length === 0 ? 404 : pageOf(commits, query);
      },
    ],
    [
      'GET REPO/activities/feeds',
      () =>
        [...forge.pulls.values()].map(({ pusher, author, branch, head, base }) => ({
          op_type: 'commit_repo',
          // Of a push that is hidden, an older one of the author's is seen.
          act_user: accountOf(pusher ?? author),
          ref_name: `refs/heads/${branch}`,
          content: JSON.stringify({ HeadCommit: { Sha1: pusher === undefined ? base : head } }),
        })),
    ],
    [
      'POST REPO/statuses/([0-9a-f]{40})',
      ([sha = ''], _, body) => {
        const status = { ...JSON.parse(body), sha, creator: SELF };
        fake.statuses.push(status);
        return status;
      },
    ],
    [
      'GET REPO/commits/([0-9a-f]{40})/statuses',
      ([sha], query) =>
        pageOf(
          fake.statuses
            .map(({ state, ...status }, i) => ({ ...status, id: i + 1, status: state, target_url: '' }))
            .filter((status) => status.sha === sha)
            .reverse(),
          query,
        ),
    ],
    [
      'GET REPO/issues/(\\d+)/comments',
      ([number]) => fake.comments.filter((one) => one.number === Number(number)),
    ],
    [
      'POST REPO/issues/(\\d+)/comments',
      ([number], _, body) => {
        const comment = {
          id: fake.comments.length + 1,
          number: Number(number),
          user: SELF,
          body: JSON.parse(body).body,
        };
        fake.comments.push(comment);
        return comment;
      },
    ],
    [
      'PATCH REPO/issues/comments/(\\d+)',
      ([id], _, body) => {
        const comment = fake.comments.find((one) => one.id === Number(id));
        if (!comment) return 404;
        comment.body = JSON.parse(body).body;
        return comment;
      },
    ],
  ];
  const api = await startRestApi({
    root: '/api/v1',
    routes: routes.map(([pattern, route]) => [pattern.replace('REPO', '/repos/example/catalogs'), route]),
    isIn: ({ authorization }) => authorization === `token ${FORGEJO_TOKEN}`,
    see: (what) => {
      fake.asked.push(what);
      return fake.refusals.shift();
    },
    bend,
    description,
  });
  return { ...fake, api };
}
