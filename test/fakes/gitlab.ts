/** A catalog repository on a fake GitLab: the people and pull requests of `hub.ts` by the API that GitLab documents (doc/api). */
import { TOKEN } from './github/forge.ts';
import type { Bend } from './host.ts';
import type { Hub } from './hub.ts';
import { fileAt, remembering } from './repository.ts';
import { loggedCommits, pageOf, type Route, startRestApi } from './rest-api.ts';

/** Of the API and of the repository over HTTP. */
export const GITLAB_TOKEN: string = TOKEN;
/** The account that the token is of. */
const SELF = { id: 500, username: 'portolan' };
interface Account {
  readonly id: number;
  readonly username: string;
}

interface FakePipeline {
  readonly id: number;
  readonly sha: string;
  readonly ref: string;
  readonly source: 'merge_request_event' | 'push' | 'external';
}

interface FakeStatus {
  readonly sha: string;
  readonly name: string;
  readonly state: string;
  readonly description: string;
  /** Id of its pipeline. */
  readonly pipeline: number;
}

export interface FakeGitLab {
  readonly api: string;
  readonly statuses: FakeStatus[];
  /** The latest last. */
  readonly pipelines: FakePipeline[];
  /** Numbers of merge requests from forks. */
  readonly forks: Set<number>;
  /** Statuses of the pipeline that decides whether a merge request may be merged. */
  statusesOf(number: number): FakeStatus[];
  /** What is answered when a status is set, in place of setting it. */
  readonly refusals: number[];
  /** The role of the token's account. */
  role: 'Developer' | 'Maintainer';
  readonly notes: { id: number; number: number; author: Account; body: string }[];
  /** External status checks of the project; without any, its plan has none. */
  readonly statusChecks: { id: number; name: string }[];
  readonly answers: { number: number; external_status_check_id: number; sha: string; status: string }[];
  /** Members of groups, by their paths. */
  readonly groups: Map<string, readonly (Account & { access_level: number; state: string })[]>;
}

/** @param bend changes what is answered */
export async function fakeGitLab(hub: Hub, bend: Bend = (_, value) => value): Promise<FakeGitLab> {
  const { forge, repository } = hub;
  // All that is asked of it is of commits by their ids.
  const git = remembering(repository.git);
  const fake: FakeGitLab = {
    api: '',
    statuses: [],
    pipelines: [],
    forks: new Set(),
    refusals: [],
    role: 'Maintainer',
    statusChecks: [],
    answers: [],
    notes: [],
    groups: new Map(),
    statusesOf: (number) => {
      const id = headPipeline(String(number))?.id;
      return fake.statuses.filter(({ pipeline }) => pipeline === id);
    },
  };
  /** Pipelines for the merge request come before those of its branch. */
  const headPipeline = (number: string | undefined): FakePipeline | undefined => {
    const { head, branch } = pullOf(number) ?? {};
    const latestFirst = fake.pipelines.toReversed();
    return (
      latestFirst.find(
        ({ source, ref, sha }) =>
          source === 'merge_request_event' &&
          (ref === `refs/merge-requests/${number}/merge` ||
            (ref === `refs/merge-requests/${number}/head` && sha === head)),
      ) ?? latestFirst.find(({ ref, sha }) => ref === branch && sha === head && !isFork(number))
    );
  };
  const isFork = (number: string | undefined): boolean => fake.forks.has(Number(number));
  const accounts = (): Account[] => forge.accounts.map(({ id, login }) => ({ id, username: login }));
  const accountOf = (login: string | undefined): Account | null =>
    accounts().find(({ username }) => username.toLowerCase() === login?.toLowerCase()) ?? null;
  const pullOf = (number: string | undefined) => forge.pulls.get(Number(number));
  const commitsOf = (...words: readonly string[]) =>
    loggedCommits(git, ...words).map(({ id, author, committer, date, parents, message }) => ({
      id,
      ...{ author_name: author.name, author_email: author.email },
      ...{ committer_name: committer.name, committer_email: committer.email, committed_date: date },
      parent_ids: parents,
      message,
    }));
  /** The first head is version 0; each commit on top is another. */
  const versionsOf = (number: string | undefined): string[] => {
    const pull = pullOf(number);
    return pull ? git('rev-list', '--reverse', `${pull.base}..${pull.head}`).trim().split('\n') : [];
  };
  const at = (minute: number, second = 0): string =>
    new Date(Date.UTC(2026, 0, 1, 0, minute, second)).toISOString();
  const lastWords = (number: string | undefined) => {
    const reviews = pullOf(number)?.reviews ?? [];
    return reviews.filter(({ by }, i) => !reviews.slice(i + 1).some((later) => later.by === by));
  };
  const mergeOf = (number: string | undefined) => {
    const pull = pullOf(number);
    if (!pull) return undefined;
    const { base, head, branch, draft, state, author, labels } = pull;
    return {
      ...{ iid: pull.number, author: accountOf(author), state: state === 'open' ? 'opened' : 'merged' },
      ...{ draft, labels, sha: head, source_branch: branch, target_branch: pull.into ?? 'main' },
      ...{
        project_id: 1,
        source_project_id: isFork(number) ? 2 : 1,
        head_pipeline: headPipeline(number) ?? null,
      },
      diff_refs: { base_sha: base, start_sha: base, head_sha: head },
    };
  };
  const MERGE = 'PROJECT/merge_requests/(\\d+)';
  const routes: readonly (readonly [string, Route])[] = [
    ['GET /user', () => SELF],
    [
      'GET /users',
      (_, query) => {
        const [name, word] = [query.get('username'), query.get('search')];
        if (name !== null) return accounts().filter(({ username }) => username === name.toLowerCase());
        // GitLab finds names, too.
        return accounts().filter(({ username }) => word?.startsWith(username) || username === 'mallory');
      },
    ],
    [
      'GET /users/(\\d+)',
      ([id]) => {
        const account = accounts().find((one) => one.id === Number(id));
        return account ? { ...account, public_email: `${account.username}@example.com` } : 404;
      },
    ],
    ['GET /groups/([^/]+)/members', ([group = '']) => fake.groups.get(decodeURIComponent(group)) ?? 404],
    [`GET ${MERGE}`, ([number]) => mergeOf(number) ?? 404],
    [
      'GET PROJECT/merge_requests',
      (_, query) =>
        [...forge.pulls.keys()]
          .map((number) => mergeOf(String(number)))
          .filter((one) => one?.state === (query.get('state') ?? one?.state)),
    ],
    [
      'GET PROJECT/repository/commits/([0-9a-f]{40})/statuses',
      ([sha], query) =>
        fake.statuses
          .map(({ state, ...status }, i) => ({ ...status, id: i + 1, status: state, target_url: null }))
          .filter((status) => status.sha === sha && status.name === query.get('name')),
    ],
    [`GET ${MERGE}/commits`, ([number]) => commitsOf(`${pullOf(number)?.base}..${pullOf(number)?.head}`)],
    [
      `GET ${MERGE}/versions`,
      ([number]) =>
        versionsOf(number)
          .map((head, i) => ({ id: i, head_commit_sha: head, created_at: at(i) }))
          .reverse(),
    ],
    [
      `GET ${MERGE}/approvals`,
      ([number]) => ({
        approved_by: lastWords(number)
          .filter(({ state }) => state === 'APPROVED')
          .map(({ by, commit }) => ({
            user: accountOf(by),
            approved_at: at(versionsOf(number).indexOf(commit ?? ''), 30),
          })),
      }),
    ],
    [
      `GET ${MERGE}/reviewers`,
      ([number]) =>
        lastWords(number).map(({ by, state }) => ({
          user: accountOf(by),
          state: state === 'CHANGES_REQUESTED' ? 'requested_changes' : 'reviewed',
        })),
    ],
    ['GET PROJECT/repository/branches/([^/]+)', ([name = '']) => ({ name, commit: { id: hub.tip(name) } })],
    [
      'GET PROJECT/repository/files/([^/]+)',
      ([path = ''], query) => {
        const content = fileAt(repository, hub.tip(query.get('ref') ?? ''), decodeURIComponent(path));
        return content === undefined
          ? 404
          : { file_path: decodeURIComponent(path), encoding: 'base64', content };
      },
    ],
    [
      'GET PROJECT/repository/commits',
      (_, query) => {
        const line = query.get('first_parent') === 'true' ? ['--first-parent'] : [];
        return commitsOf(...line, query.get('ref_name') ?? '', '--', query.get('path') ?? '');
      },
    ],
    [
      'GET PROJECT/events',
      () =>
        [...forge.pulls.values()].map(({ pusher, author, branch, head, base }) => ({
          action_name: 'pushed to',
          author: accountOf(pusher ?? author),
          // Of a push that has no event, an older one of the author's is seen.
          push_data: { ref_type: 'branch', ref: branch, commit_to: pusher === undefined ? base : head },
        })),
    ],
    [
      'POST PROJECT/statuses/([0-9a-f]{40})',
      ([sha = ''], _, body) => {
        const refusal = fake.refusals.shift();
        if (refusal !== undefined) return refusal;
        const { name, state, description, ref = 'main', pipeline_id: wanted } = JSON.parse(body);
        // Whoever may neither push nor merge to a protected branch may not change its pipelines.
        if (ref === 'main' && fake.role === 'Developer') return 403;
        const found = fake.pipelines.findLast(
          (one) => one.sha === sha && one.ref === ref && (wanted === undefined || one.id === wanted),
        );
        if (!found && wanted !== undefined) return 404;
        const pipeline = found ?? { id: fake.pipelines.length + 1, sha, ref, source: 'external' as const };
        if (!found) fake.pipelines.push(pipeline);
        const last = fake.statuses.findLast((one) => one.pipeline === pipeline.id && one.name === name);
        if (last?.state === 'pending' && state === 'pending') return 400;
        const status = { sha, name, state, description, pipeline: pipeline.id };
        fake.statuses.push(status);
        return status;
      },
    ],
    [`GET ${MERGE}/status_checks`, () => (fake.statusChecks.length === 0 ? 401 : fake.statusChecks)],
    [
      `POST ${MERGE}/status_check_responses`,
      ([number], _, body) => {
        const answer = JSON.parse(body);
        if (answer.sha !== pullOf(number)?.head) return 409;
        fake.answers.push({ number: Number(number), ...answer });
        return answer;
      },
    ],
    [`GET ${MERGE}/notes`, ([number]) => fake.notes.filter((one) => one.number === Number(number))],
    [
      `POST ${MERGE}/notes`,
      ([number], _, body) => {
        const note = { id: fake.notes.length + 1, number: Number(number), author: SELF, ...JSON.parse(body) };
        fake.notes.push(note);
        return note;
      },
    ],
    [
      `PUT ${MERGE}/notes/(\\d+)`,
      ([, id], _, body) => {
        const note = fake.notes.find((one) => one.id === Number(id));
        return note ? Object.assign(note, JSON.parse(body)) : 404;
      },
    ],
  ];
  const api = await startRestApi({
    root: '/api/v4',
    routes: routes.map(([pattern, route]) => [
      pattern.replace('PROJECT', '/projects/example%2Fcatalogs'),
      (match, query, body) => {
        const said = route(match, query, body);
        return Array.isArray(said) && query.has('per_page') ? pageOf(said, query) : said;
      },
    ]),
    isIn: (headers) => headers['private-token'] === GITLAB_TOKEN,
    errorText: (status) => MESSAGES[status] ?? 'no',
    bend,
  });
  return Object.assign(fake, { api });
}

const MESSAGES: Readonly<Record<number, string>> = {
  400: 'Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")',
};
