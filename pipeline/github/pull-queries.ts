/** Pull requests by GraphQL: one question in place of a request for each list. Where GitHub does not answer, the REST API is asked. */
import type { GivenReview } from '../check/authority/approval.ts';
import type { OpenPull, PullRequest, ReadAgain, RepositoryName, Reviewed } from '../forge/forge.ts';
import { type Comment, STATUS_CONTEXT } from '../forge/marks.ts';
import type { Person } from '../policy/identity.ts';
import type { GitHub } from './client.ts';
import { askWhole } from './graphql.ts';
import { personOf, reviewsOf } from './pull-request.ts';

/** A list of which GitHub gives a hundred at once. */
interface List<T> {
  readonly nodes: readonly T[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string };
}

interface Actor {
  readonly __typename: string;
  readonly login: string;
  readonly databaseId?: number | null;
}

interface OpenNode {
  readonly number: number;
  readonly isDraft: boolean;
  readonly baseRefName: string;
  readonly headRefOid: string;
  readonly author: Actor | null;
  readonly labels: List<{ readonly name: string }>;
  readonly commits: {
    readonly totalCount: number;
    readonly nodes: readonly {
      readonly commit: {
        readonly oid: string;
        readonly status?: { readonly context: object | null } | null;
      };
    }[];
  };
}

interface ReviewedNode extends OpenNode {
  readonly state: string;
  readonly headRefName: string;
  readonly headRepository: { readonly name: string; readonly owner: { readonly login: string } } | null;
  readonly reviews: List<{
    readonly fullDatabaseId: string;
    readonly state: string;
    readonly submittedAt: string | null;
    readonly author: Actor | null;
    readonly commit: { readonly oid: string } | null;
  }>;
}

interface SaidNode extends ReviewedNode {
  readonly comments: List<{
    readonly databaseId: number;
    readonly body: string;
    readonly author: Actor | null;
  }>;
  readonly timelineItems: List<{ readonly requestedReviewer?: Partial<Actor> | null }>;
}

const LIST = 'pageInfo { hasNextPage endCursor }';
const ACTOR = `fragment actor on Actor {
  __typename login
  ... on User { databaseId } ... on Bot { databaseId } ... on Mannequin { databaseId } ... on Organization { databaseId }
}`;
const OPEN = `fragment open on PullRequest {
  number isDraft baseRefName headRefOid
  author { ...actor }
  labels(first: 100) { nodes { name } ${LIST} }
}`;
const REVIEWED = `fragment reviewed on PullRequest {
  ...open state headRefName headRepository { name owner { login } }
  commits(last: 1) { totalCount nodes { commit { oid } } }
  reviews(first: 100) {
    nodes { fullDatabaseId state submittedAt author { ...actor } commit { oid } } ${LIST}
  }
}`;
const SAID = `fragment said on PullRequest {
  comments(first: 100) { nodes { databaseId body author { ...actor } } ${LIST} }
  timelineItems(first: 100, itemTypes: [REVIEW_REQUESTED_EVENT]) {
    nodes { ... on ReviewRequestedEvent { requestedReviewer { ... on User { login } } } } ${LIST}
  }
}`;

/** The repository of a question, which all of them ask about. */
const OF = 'repository(owner: $owner, name: $repo)';
const NAMED = '$owner: String!, $repo: String!';

const OPEN_PULLS = `query(${NAMED}, $after: String) {
  ${OF} {
    pullRequests(states: OPEN, first: 100, after: $after) {
      nodes {
        ...open
        commits(last: 1) { totalCount nodes { commit { oid status { context(name: "${STATUS_CONTEXT}") { id } } } } }
      }
      ${LIST}
    }
  }
}
${OPEN} ${ACTOR}`;

interface Listed {
  readonly repository: { readonly pullRequests: List<OpenNode> } | null;
}

/** All open pull requests, with whether a status was ever set on their heads; undefined if GitHub does not give all. */
export async function askOpen(github: GitHub, repository: RepositoryName): Promise<OpenPull[] | undefined> {
  return morePulls(github, repository, { nodes: [], pageInfo: { hasNextPage: true } });
}

/** All open pull requests, from the first page on; undefined if a page cannot be read. */
async function morePulls(
  github: GitHub,
  repository: RepositoryName,
  { nodes, pageInfo }: List<OpenNode>,
): Promise<OpenPull[] | undefined> {
  const all = [...nodes];
  for (let page = pageInfo; page.hasNextPage; ) {
    const after = page.endCursor ?? null;
    const found = await askWhole<Listed>(github, OPEN_PULLS, { ...repository, after });
    if (!found?.repository) return undefined;
    all.push(...found.repository.pullRequests.nodes);
    page = found.repository.pullRequests.pageInfo;
  }
  return allOrNone(all.map(openOf));
}

/** All values; undefined if one is missing, so that the REST API is asked. */
function allOrNone<T>(found: readonly (T | undefined)[]): T[] | undefined {
  const known = found.filter((one) => one !== undefined);
  return known.length === found.length ? known : undefined;
}

/** An open pull request; undefined if the answer does not have all of it, so that the REST API is asked. */
function openOf(node: OpenNode): OpenPull | undefined {
  const author = accountOf(node.author);
  if (!author || node.labels.pageInfo.hasNextPage) return undefined;
  const [last] = node.commits.nodes;
  // GitHub gives null for a commit without statuses. The field is undefined where the query did not ask for it.
  const hasNoStatus =
    last?.commit.oid === node.headRefOid && last.commit.status !== undefined && !last.commit.status?.context;
  return {
    number: node.number,
    author,
    base: { branch: node.baseRefName },
    head: { commit: node.headRefOid, ...(hasNoStatus ? { hasNoStatus } : {}) },
    draft: node.isDraft,
    labels: node.labels.nodes.map(({ name }) => name),
  };
}

/** An account as the REST API has it; undefined for one of a kind that GraphQL gives no number. */
function accountOf(actor: Actor | null): Person | undefined {
  if (!actor) return personOf(null);
  const { __typename: type, login, databaseId: id } = actor;
  if (typeof id !== 'number') return undefined;
  return personOf({ login: type === 'Bot' ? `${login}[bot]` : login, id, type });
}

const REVIEWED_PULL = `query(${NAMED}, $number: Int!) {
  ${OF} { pullRequest(number: $number) { ...reviewed } }
}
${REVIEWED} ${OPEN} ${ACTOR}`;

/** A pull request with its reviews; undefined if GitHub does not give all of it. */
export async function askReviewed(
  github: GitHub,
  repository: RepositoryName,
  number: number,
): Promise<Reviewed | undefined> {
  const found = await askWhole<{ repository: { pullRequest: ReviewedNode | null } | null }>(
    github,
    REVIEWED_PULL,
    { ...repository, number },
  );
  return found?.repository?.pullRequest ? reviewedOf(found.repository.pullRequest) : undefined;
}

/** A pull request with its reviews; undefined if a part of it is missing. */
function reviewedOf(node: ReviewedNode): Reviewed | undefined {
  const open = openOf(node);
  const reviews = givenReviews(node);
  if (!open || !reviews) return undefined;
  const { headRefName: branch, headRepository: fork } = node;
  const pull: PullRequest = {
    ...open,
    head: {
      branch,
      commit: open.head.commit,
      repository: fork ? { owner: fork.owner.login, repo: fork.name } : undefined,
    },
    open: node.state === 'OPEN',
    commits: node.commits.totalCount,
  };
  return { pull, reviews };
}

/** The reviews of a pull request; undefined if the answer does not have all of them, or lacks the number of an author. */
function givenReviews({ reviews: { nodes, pageInfo } }: ReviewedNode): GivenReview[] | undefined {
  const authors = allOrNone(nodes.map(({ author }) => accountOf(author)));
  if (!authors || pageInfo.hasNextPage) return undefined;
  return reviewsOf(
    nodes.map(({ fullDatabaseId: id, state, submittedAt, commit }, i) => ({
      id: Number(id),
      state,
      at: submittedAt ?? '',
      author: authors[i] ?? personOf(null),
      commit: commit?.oid,
    })),
  );
}

/** The comments and statuses of a pull request, read together with it. */
export interface Said {
  /** Id of the head. */
  readonly head: string;
  readonly comments: readonly (Comment & { readonly id: number })[];
  /** Number of the account that requests are made by. */
  readonly self: number;
  /** Logins, lower case, once for each time that they were asked for a review. */
  readonly requests: readonly string[];
  readonly reviews: readonly GivenReview[];
}

interface AskedAgain extends ReadAgain {
  readonly said: ReadonlyMap<number, Said>;
}

/**
 * Open pull requests, reviews of some of them, and the tips of branches, all by one question; undefined if GitHub does not
 * give all of it. In the answer, `p0` is the first of the pull requests and `b0` the first of the branches.
 */
export async function askAgain(
  github: GitHub,
  repository: RepositoryName,
  numbers: readonly number[],
  branches: readonly string[],
): Promise<AskedAgain | undefined> {
  const names = Object.fromEntries(branches.map((branch, i) => [`b${i}`, `refs/heads/${branch}`]));
  const variables = Object.keys(names).map((name) => `, $${name}: String!`);
  const query = `query(${NAMED}${variables.join('')}) {
  viewer { databaseId }
  ${OF} {
    pullRequests(states: OPEN, first: 100) { nodes { ...open commits(last: 1) { totalCount nodes { commit { oid } } } } ${LIST} }
    ${numbers.map((number, i) => `p${i}: pullRequest(number: ${number}) { ...reviewed ...said }`).join('\n    ')}
    ${branches.map((_, i) => `b${i}: ref(qualifiedName: $b${i}) { target { oid } }`).join('\n    ')}
  }
}
${REVIEWED} ${SAID} ${OPEN} ${ACTOR}`;
  const found = await askWhole<AgainAnswer>(github, query, { ...repository, ...names });
  if (!found?.repository) return undefined;
  const { pullRequests, ...named } = found.repository;
  const open = await morePulls(github, repository, pullRequests);
  const tips = allOrNone(branches.map((_, i) => (named[`b${i}`] as TipNode | null)?.target?.oid));
  const nodes = allOrNone(numbers.map((_, i) => (named[`p${i}`] as SaidNode | null) ?? undefined));
  const pulls = nodes && allOrNone(nodes.map(reviewedOf));
  if (!open || !tips || !nodes || !pulls) return undefined;
  const said = nodes.flatMap((node, i) => {
    const own = saidOf(node, pulls[i]?.reviews ?? [], found.viewer.databaseId);
    return own ? [[node.number, own] as const] : [];
  });
  return {
    open,
    reviews: new Map(pulls.map(({ pull, reviews }) => [pull.number, reviews])),
    tips: new Map(branches.map((branch, i) => [branch, tips[i] ?? ''])),
    said: new Map(said),
  };
}

interface TipNode {
  readonly target: { readonly oid: string } | null;
}

interface AgainAnswer {
  readonly viewer: { readonly databaseId: number | null };
  readonly repository: ({ readonly pullRequests: List<OpenNode> } & Readonly<Record<string, unknown>>) | null;
}

/**
 * The comments, review requests and reviews of a pull request; undefined if there are more than GitHub gives in one
 * answer.
 */
function saidOf(
  { headRefOid: head, comments, timelineItems }: SaidNode,
  reviews: readonly GivenReview[],
  self: number | null,
): Said | undefined {
  if (self === null || comments.pageInfo.hasNextPage || timelineItems.pageInfo.hasNextPage) return undefined;
  return {
    head,
    self,
    reviews,
    comments: comments.nodes.map(({ databaseId: id, body, author }) => ({
      id,
      body,
      user: typeof author?.databaseId === 'number' ? { id: author.databaseId } : null,
    })),
    requests: timelineItems.nodes.flatMap(
      ({ requestedReviewer: asked }) => asked?.login?.toLowerCase() ?? [],
    ),
  };
}
