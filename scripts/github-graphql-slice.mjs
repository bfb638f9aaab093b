// Cuts the fields that the pipeline asks for out of GitHub's own GraphQL schema:
//   npm pack @octokit/graphql-schema && tar xzf octokit-graphql-schema-*.tgz package/schema.graphql
//   node scripts/github-graphql-slice.mjs package/schema.graphql
// Parsing the whole schema takes a second in each test that has a GitHub, so the slice is committed.
import { readFileSync, writeFileSync } from 'node:fs';
import { Kind, parse, print, visit } from 'graphql';

const FIELDS = {
  Query: ['repository', 'viewer', 'user', 'organization'],
  Mutation: ['enqueuePullRequest'],
  EnqueuePullRequestPayload: ['mergeQueueEntry'],
  Actor: ['login'],
  User: ['login', 'databaseId'],
  Bot: ['login', 'databaseId'],
  Mannequin: ['login', 'databaseId'],
  Organization: ['login', 'databaseId', 'team'],
  EnterpriseUserAccount: ['login'],
  Team: ['members'],
  TeamMemberConnection: ['nodes', 'pageInfo'],
  RepositoryOwner: ['login'],
  Repository: ['name', 'owner', 'pullRequest', 'pullRequests', 'ref', 'object', 'mergeQueue'],
  PullRequestConnection: ['nodes', 'pageInfo'],
  PageInfo: ['hasNextPage', 'endCursor'],
  PullRequest: [
    ...['id', 'number', 'state', 'isDraft', 'baseRefName', 'headRefName', 'headRefOid', 'headRepository'],
    ...['author', 'labels', 'commits', 'reviews', 'comments', 'timelineItems'],
  ],
  LabelConnection: ['nodes', 'pageInfo'],
  Label: ['name'],
  PullRequestCommitConnection: ['nodes', 'totalCount'],
  PullRequestCommit: ['commit'],
  PullRequestReviewConnection: ['nodes', 'pageInfo'],
  PullRequestReview: ['fullDatabaseId', 'state', 'submittedAt', 'author', 'commit'],
  IssueCommentConnection: ['nodes', 'pageInfo'],
  IssueComment: ['databaseId', 'body', 'author'],
  PullRequestTimelineItemsConnection: ['nodes', 'pageInfo'],
  ReviewRequestedEvent: ['requestedReviewer'],
  Ref: ['target'],
  GitObject: ['oid'],
  Commit: ['oid', 'history', 'status', 'tree', 'committedDate'],
  Tree: ['oid'],
  CommitHistoryConnection: ['nodes'],
  Status: ['context'],
  StatusContext: ['id'],
  MergeQueue: ['entries'],
  MergeQueueEntryConnection: ['nodes'],
  MergeQueueEntry: ['id', 'headCommit', 'baseCommit', 'pullRequest'],
};

const [file] = process.argv.slice(2);
const whole = parse(readFileSync(file, 'utf8'));
const named = new Map(whole.definitions.flatMap((one) => (one.name ? [[one.name.value, one]] : [])));
const kept = new Map();
for (const name of Object.keys(FIELDS)) keep(name);
const definitions = [...kept.values()].sort((a, b) => a.name.value.localeCompare(b.name.value));
const text = print(withoutDescriptions({ kind: Kind.DOCUMENT, definitions }));
writeFileSync('test/fakes/fixtures/github.graphql', `${text}\n`);

/** Keeps a type with what its fields need. Types without fields here are dropped where a union or an interface has them. */
function keep(name) {
  const found = named.get(name);
  if (!found || kept.has(name)) return;
  const fields = FIELDS[name];
  if (!fields && /^(?:Object|Interface)/.test(found.kind)) throw new Error(`no fields of ${name}`);
  for (const field of fields ?? [])
    if (!found.fields.some((one) => one.name.value === field)) throw new Error(`no field ${name}.${field}`);
  const cut = {
    ...found,
    ...(fields ? { fields: found.fields.filter((one) => fields.includes(one.name.value)) } : {}),
    ...(found.interfaces ? { interfaces: found.interfaces.filter(isListed) } : {}),
    ...(found.kind === Kind.UNION_TYPE_DEFINITION ? { types: found.types.filter(isListed) } : {}),
  };
  kept.set(name, cut);
  visit(cut, { NamedType: (type) => keep(type.name.value) });
}

/** Whether a type has fields here. */
function isListed({ name }) {
  return name.value in FIELDS;
}

/** A schema without what only people read, and without directives. */
function withoutDescriptions(document) {
  return visit(document, {
    enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined),
    Directive: () => null,
  });
}
