/** Forgejo and Gitea as forges: their APIs are one where the gate asks them. */
import { createHash } from 'node:crypto';
import type { CheckReport } from '../../check/report.ts';
import type { CommitStatus } from '../../ports.ts';
import { COMMENT_BYTES, codeSpan, escapedMarkdown, markdownReport } from '../../report/markdown.ts';
import { shortenedText } from '../../text.ts';
import { directoryOf } from '../directory.ts';
import type { GateForge, PullRequest, Reported, RepositoryName } from '../forge.ts';
import { type ForgeClient, openForgeClient, unlessGone } from '../http.ts';
import { COMMENT_MARK, DESCRIPTION, ownMarked, STATUS_CONTEXT } from '../marks.ts';
import { commitId, day, flag, list, nullable, object, optional, type Read, text, whole } from '../reply.ts';
import { account, commitsOf, lookupsOf, pusherOf, repositoryAt, reviewsOf } from './people.ts';

const FORGEJO = 'Forgejo or Gitea';

/** Guarantees that neither forge gives; docs/threat-model.md lists the consequences. */
const MISSING_GUARANTEES: readonly string[] = [
  'people may hide who pushed',
  'no webhook reports that an approval was dismissed',
  "programs' accounts cannot be told from people's",
];

/** Begins the review with the findings, before their digest. */
const REVIEW_MARK = '<!-- portolan:findings ';
/** Findings that are shown at their lines. */
const MOST_LINES = 50;

/**
 * A client of Forgejo's or Gitea's API.
 *
 * @param token asked each time, so that another token is in use as soon as it is read
 */
export function forgejoClient(url: string, token: () => Promise<string>): ForgeClient {
  const headers = async () => ({ authorization: `token ${await token()}` });
  return openForgeClient({ name: FORGEJO, url, headers, pageSize: 'limit' });
}

/** Forgejo or Gitea as the gate sees it. */
export function forgejoForge(client: ForgeClient, repository: RepositoryName): GateForge {
  const root = repositoryAt(repository);
  return {
    name: FORGEJO,
    repository,
    missingGuarantees: MISSING_GUARANTEES,
    readPull: (number) => readPull(client, root, number),
    readOpen: async () => (await client.pages(`${root}/pulls?state=open`, pullRequest)).map(pullOf),
    readStatuses: async (commit) => {
      const listed = await statusesOf(client, root, commit);
      return listed
        .filter(({ context }) => context === STATUS_CONTEXT)
        .map(({ id, status, creator, target_url: link }) => ({
          id,
          state: status,
          link: link || undefined,
          by: creator?.id,
        }));
    },
    readReviews: async (number) => reviewsOf(client, `${root}/pulls/${number}/reviews`),
    readCommits: async (number) => commitsOf(client, `${root}/pulls/${number}`),
    readPusher: (pull) => pusherOf(client, pull),
    readDirectory: (identities) => directoryOf(identities, lookupsOf(client)),
    // The policy names the app that makes a check, and these forges have no apps.
    readChecks: async (_, required) =>
      required.map(({ name }) => ({ name, state: 'waiting', why: `cannot be looked up on ${FORGEJO}` })),
    readTip: async (name) => {
      const path = name.split('/').map(encodeURIComponent).join('/');
      return (await client.get(`${root}/branches/${path}`, branch)).commit.id;
    },
    readSelf: () => ownId(client),
    readFile: async (name, path) => {
      const asked = `${root}/contents/${encodeURI(path)}?ref=${encodeURIComponent(name)}`;
      const found = await unlessGone(client.get(asked, file), undefined);
      return found && Buffer.from(found.type === 'file' ? (found.content ?? '') : '', 'base64');
    },
    readPathChanges: async (tip, path, most) => {
      const less = 'stat=false&verification=false&files=false';
      const asked = `${root}/commits?sha=${tip}&path=${encodeURIComponent(path)}&${less}`;
      // A path that no commit changed is not found (routers/api/v1/repo/commits.go).
      const listed = await unlessGone(client.pages(asked, change, most), []);
      return listed.map(({ sha, commit: { committer } }) => ({
        commit: sha,
        date: committer.date,
      }));
    },
    postStatus: ({ commit: head, state, description }) =>
      postStatus(client, root, { commit: head, context: STATUS_CONTEXT, state, description }),
    postFindings: (about) => postFindings(client, root, about),
    postComment: (about) => postComment(client, root, about),
  };
}

/** Sets a status. @throws PipelineError as the client */
export async function reportStatus(
  client: ForgeClient,
  repository: RepositoryName,
  status: CommitStatus,
): Promise<void> {
  await postStatus(client, repositoryAt(repository), status);
}

/** Whether a status is the newest one of its context. @throws PipelineError as the client */
export async function showsStatus(
  client: ForgeClient,
  repository: RepositoryName,
  status: CommitStatus,
): Promise<boolean> {
  const { context, target_url: link = '', ...said } = saidOf(status);
  const listed = await statusesOf(client, repositoryAt(repository), status.commit);
  const newest = listed.find((one) => one.context === context);
  if (newest?.status !== said.state || newest.description !== said.description) return false;
  return (newest.target_url ?? '') === link;
}

/** The newest first. */
function statusesOf(client: ForgeClient, root: string, commit: string): Promise<Read<typeof statusReply>[]> {
  return client.pages(`${root}/commits/${commit}/statuses?sort=recentupdate`, statusReply, NEWEST);
}

async function postStatus(
  client: ForgeClient,
  root: string,
  status: Omit<CommitStatus, 'repository'>,
): Promise<void> {
  await client.send('POST', `${root}/statuses/${status.commit}`, saidOf(status));
}

/** A status in the form of the API. */
function saidOf({ context, state, description, url }: Omit<CommitStatus, 'repository'>) {
  const said = { state, context, description: shortenedText(description, DESCRIPTION) };
  return { ...said, ...(url ? { target_url: url } : {}) };
}

/** Content in base64. A symbolic link or a submodule has none. */
const file = object({ type: text, content: optional(text) });

const branch = object({ commit: object({ id: commitId }) });

const change = object({ sha: commitId, commit: object({ committer: object({ date: day }) }) });

const pullRequest = object({
  number: whole,
  user: account,
  state: text,
  draft: flag,
  /** Go's null for a list without items. */
  labels: nullable(list(object({ name: text }))),
  base: object({ ref: text }),
  head: object({
    ref: text,
    sha: commitId,
    /** Null where the fork is gone. */
    repo: nullable(object({ name: text, owner: account })),
  }),
});

async function readPull(client: ForgeClient, root: string, number: number): Promise<PullRequest> {
  return pullOf(await client.get(`${root}/pulls/${number}`, pullRequest));
}

/** A pull request from the API's. */
function pullOf(data: Read<typeof pullRequest>): PullRequest {
  const { base, head } = data;
  return {
    number: data.number,
    author: data.user,
    base: { branch: base.ref },
    head: {
      branch: head.ref,
      commit: head.sha,
      repository: head.repo ? { owner: head.repo.owner.login, repo: head.repo.name } : undefined,
    },
    draft: data.draft,
    open: data.state === 'open',
    labels: (data.labels ?? []).map(({ name }) => name),
    commits: undefined,
  };
}

/** Statuses of a commit that are looked through for our own. */
const NEWEST = 100;

const statusReply = object({
  id: whole,
  status: text,
  context: text,
  description: optional(text),
  target_url: optional(text),
  creator: optional(object({ id: whole })),
});

async function ownId(client: ForgeClient): Promise<number> {
  return (await client.get('/user', account)).id;
}

/** A comment, or the text of a review. */
const comment = object({ id: whole, body: text, user: nullable(account) });

/** Writes the pull request's one comment. @returns false if the pull request has another head by now */
async function postComment(
  client: ForgeClient,
  root: string,
  { number, report }: Reported,
): Promise<boolean> {
  if ((await readPull(client, root, number)).head.commit !== report.head) return false;
  const body = `${COMMENT_MARK}\n${markdownReport(report, { most: COMMENT_BYTES })}`;
  // This list has no pages.
  const comments = await client.get(`${root}/issues/${number}/comments`, list(comment));
  const [own] = await ownMarked(comments, COMMENT_MARK, () => ownId(client));
  if (own?.body === body) return true;
  if (own) await client.send('PATCH', `${root}/issues/comments/${own.id}`, { body });
  else await client.send('POST', `${root}/issues/${number}/comments`, { body });
  return true;
}

/**
 * Posts one review with all findings at their lines. It stays while they are the same, and is replaced when they change.
 */
async function postFindings(client: ForgeClient, root: string, { number, report }: Reported): Promise<void> {
  const comments = commentsOf(report);
  const digest = createHash('sha256').update(JSON.stringify(comments)).digest('hex').slice(0, 32);
  const mark = `${REVIEW_MARK}${digest} -->`;
  const reviews = await client.pages(`${root}/pulls/${number}/reviews`, comment);
  const own = await ownMarked(reviews, REVIEW_MARK, () => ownId(client));
  const current = own.find(({ body }) => comments.length > 0 && body.startsWith(mark));
  // Another run may have removed it.
  for (const { id } of own)
    if (id !== current?.id)
      await unlessGone(client.send('DELETE', `${root}/pulls/${number}/reviews/${id}`), undefined);
  if (current || comments.length === 0) return;
  const body = `${mark}\nPortolan found ${comments.length === 1 ? 'a problem' : `${comments.length} problems`} at these lines:`;
  const written = { event: 'COMMENT', commit_id: report.head, body, comments };
  await client.send('POST', `${root}/pulls/${number}/reviews`, written);
}

/** The findings that have a line, as comments of a review. */
function commentsOf({ findings }: CheckReport) {
  return findings
    .filter(({ location: { file, line } }) => file !== '' && line > 0)
    .slice(0, MOST_LINES)
    .map(({ location: { file, line }, severity, rule, message, hint }) => ({
      path: file,
      new_position: line,
      body: `**${severity}** ${escapedMarkdown(message)} (${codeSpan(rule)})${hint === undefined ? '' : `\n\nfix: ${escapedMarkdown(hint)}`}`,
    }));
}
