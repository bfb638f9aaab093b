/** GraphQL of the fake GitHub: each query is judged by GitHub's own schema, and answered from the same state as the REST API. */
import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type DocumentNode,
  executeSync,
  GraphQLError,
  type GraphQLSchema,
  parse,
  validate,
} from 'graphql';
import type { TestRepository } from '../repository.ts';
import { ACTIONS_BOT, type FakeForge, type FakePull } from './forge.ts';
import type { Answer, Routes } from './server.ts';
import { headOwner } from './writing.ts';

type Login = string | null | undefined;
type Account = (
  login: Login,
) => { readonly login: string; readonly id: number; readonly type: string } | null;

let schema: GraphQLSchema | undefined;
const documents = new Map<string, DocumentNode>();

function schemaOf(): GraphQLSchema {
  schema ??= buildSchema(readFileSync('test/fakes/fixtures/github.graphql', 'utf8'));
  return schema;
}

export function graphqlRoutes(forge: FakeForge, repository: TestRepository, account: Account): Routes {
  return { 'POST /graphql': ({ body }) => graphqlAnswer(forge, { repository, account }, body) };
}

interface World {
  readonly repository: TestRepository;
  readonly account: Account;
}

/** As GitHub answers: errors with a type, beside the data that there is. */
function graphqlAnswer(
  forge: FakeForge,
  world: World,
  { query, variables }: { query: string; variables?: Record<string, unknown> },
): Answer {
  const document = documents.get(query) ?? parse(query);
  if (!documents.has(query)) {
    const defects = validate(schemaOf(), document).map(({ message }) => `GraphQL: ${message}`);
    forge.defects.push(...defects);
    if (defects.length > 0) return { data: { errors: defects.map((message) => ({ message })) } };
    documents.set(query, document);
  }
  const { data, errors } = executeSync({
    schema: schemaOf(),
    document,
    rootValue: rootOf(forge, world),
    variableValues: variables ?? {},
  });
  const told = errors?.map(({ message, path, extensions }) => ({ type: extensions['type'], path, message }));
  return { data: told ? { data: data ?? null, errors: told } : { data } };
}

function refused(type: string, message: string): never {
  throw new GraphQLError(message, { extensions: { type } });
}

interface Page {
  readonly first?: number;
  readonly after?: string | null;
}

/** One page of a list. GitHub takes none without a size, and none of more than a hundred. */
function pageOf(all: readonly unknown[], { first, after }: Page): object {
  if (first === undefined || first > 100) refused('EXCESSIVE_PAGINATION', 'provide `first` of 1 to 100');
  const from = Number(after ?? 0);
  const hasNextPage = all.length > from + first;
  const pageInfo = { hasNextPage, endCursor: String(from + first) };
  return { nodes: all.slice(from, from + first), pageInfo, totalCount: all.length };
}

function rootOf(forge: FakeForge, { repository, account }: World): object {
  const actorOf = (login: Login): object | null => {
    const found = account(login);
    if (!found) return null;
    // GraphQL has the logins of apps without their ending.
    const name = found.login.replace(/\[bot\]$/, '');
    return { __typename: found.type, login: name, databaseId: found.id };
  };
  return {
    viewer: { ...actorOf(forge.self ?? ACTIONS_BOT.login), __typename: 'User' },
    user: ({ login }: { login: string }) => {
      const found = account(login);
      return found?.type === 'User'
        ? actorOf(login)
        : refused('NOT_FOUND', `Could not resolve to a User with the login of '${login}'.`);
    },
    organization: ({ login: org }: { login: string }) => ({
      team: ({ slug }: { slug: string }) => {
        const members = forge.teams.get(`${org}/${slug}`);
        return members ? { members: (page: Page) => pageOf(members.map(actorOf), page) } : null;
      },
    }),
    repository: repositoryOf(forge, repository, actorOf),
    enqueuePullRequest: ({ input }: { input: { pullRequestId: string; expectedHeadOid?: string } }) => {
      const pull = forge.pulls.get(Number(input.pullRequestId.slice(3)));
      if (!pull || pull.head !== (input.expectedHeadOid ?? pull.head))
        refused('UNPROCESSABLE', 'Head oid was not the expected one');
      forge.enqueued.push({ number: pull.number, head: pull.head });
      return { mergeQueueEntry: { id: 'MQE_1' } };
    },
  };
}

type ActorOf = (login: Login) => object | null;

function repositoryOf(forge: FakeForge, repository: TestRepository, actorOf: ActorOf): object {
  const pull = (one: FakePull): object => pullOf(forge, one, { repository, actorOf });
  return {
    name: 'catalogs',
    pullRequest: ({ number }: { number: number }) => {
      const found = forge.pulls.get(number);
      return found ? pull(found) : refused('NOT_FOUND', `Could not resolve to a PullRequest of ${number}.`);
    },
    pullRequests: ({ states, ...page }: Page & { states?: readonly string[] }) => {
      const all = [...forge.pulls.values()].filter((one) => states?.includes(stateOf(one)) ?? true);
      return pageOf(all.map(pull), page);
    },
    ref: ({ qualifiedName }: { qualifiedName: string }) => {
      const id = attempt(() => repository.git('rev-parse', '--verify', qualifiedName));
      return id === undefined ? null : { target: { __typename: 'Commit', oid: id } };
    },
    object: ({ oid }: { oid?: string }) => commitOf(forge, repository, oid ?? ''),
    mergeQueue: () => {
      // A job's own token has no permission that covers queues.
      if (!forge.readsQueues) refused('FORBIDDEN', 'Resource not accessible by integration');
      const nodes = forge.queue.map(({ number, head, base, pullHead }) => ({
        headCommit: { oid: head },
        baseCommit: { oid: base },
        pullRequest: { number, headRefOid: pullHead },
      }));
      return { entries: (page: Page) => pageOf(nodes, page) };
    },
  };
}

function stateOf({ state, merged }: FakePull): string {
  return merged ? 'MERGED' : state.toUpperCase();
}

function pullOf(
  forge: FakeForge,
  pull: FakePull,
  { repository, actorOf }: { repository: TestRepository; actorOf: ActorOf },
): object {
  const { number, author, into = 'main', head, branch, draft, labels, reviews, commits } = pull;
  const comments = forge.comments.get(number) ?? [];
  const requested = forge.requests.filter((one) => one.number === number);
  return {
    id: `PR_${number}`,
    number,
    state: stateOf(pull),
    isDraft: draft,
    baseRefName: into,
    headRefName: branch,
    headRefOid: head,
    headRepository: {
      name: 'catalogs',
      owner: { __typename: 'User', login: headOwner({ branch, author }) },
    },
    author: actorOf(author),
    labels: (page: Page) =>
      pageOf(
        labels.map((name) => ({ name })),
        page,
      ),
    commits: () => ({
      totalCount: commits?.length ?? 1,
      nodes: [{ commit: commitOf(forge, repository, head) }],
    }),
    reviews: (page: Page) =>
      pageOf(
        reviews.map(({ by, state, commit }, i) => ({
          fullDatabaseId: String(i + 1),
          author: actorOf(by),
          state,
          commit: commit === null ? null : { oid: commit },
          submittedAt: `2026-01-01T00:00:${String(i).padStart(2, '0')}Z`,
        })),
        page,
      ),
    comments: (page: Page) =>
      pageOf(
        comments.map(({ id, by, body }) => ({ databaseId: id, body, author: actorOf(by) })),
        page,
      ),
    timelineItems: (page: Page) =>
      pageOf(
        requested.map(({ login }) => ({
          __typename: 'ReviewRequestedEvent',
          requestedReviewer: actorOf(login),
        })),
        page,
      ),
  };
}

function commitOf(forge: FakeForge, { git }: TestRepository, oid: string): object {
  const statuses = forge.statuses.filter(({ sha }) => sha === oid);
  return {
    __typename: 'Commit',
    oid,
    status: () =>
      statuses.length === 0
        ? null
        : {
            context: ({ name }: { name: string }) =>
              statuses.some(({ context }) => context === name) ? { id: 'SC_1' } : null,
          },
    history: ({ first, path = '.' }: { first: number; path?: string }) => {
      const lines = git('log', `--max-count=${first}`, '--format=%H %T %cI', oid, '--', path).split('\n');
      const nodes = lines.filter(Boolean).map((line) => {
        const [id, tree, date] = line.split(' ');
        return { __typename: 'Commit', oid: id, tree: { oid: tree }, committedDate: date };
      });
      return { nodes };
    },
  };
}

function attempt(act: () => string): string | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
