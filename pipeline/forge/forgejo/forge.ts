/** Forgejo and Gitea as forges: their APIs are one where the gate asks them. */
import { createHash } from 'node:crypto';
import { type CheckReport, headlineOf, stateOf } from '../../check/report.ts';
import { PipelineError } from '../../error.ts';
import type { CommitStatus } from '../../ports.ts';
import { COMMENT_BYTES, code, escaped, markdownReport } from '../../report/markdown.ts';
import { plain, shortened } from '../../text.ts';
import type { GateForge, PullRequest, Reported, RepositoryName } from '../forge.ts';
import { type ForgeClient, openForgeClient } from '../http.ts';
import {
  type Account,
  type CommitData,
  commitsOf,
  directoryOf,
  personOf,
  pusherOf,
  type ReviewData,
  reviewsOf,
} from './people.ts';

export const FORGEJO = 'Forgejo or Gitea';

/** What neither forge vouches for; docs/threat-model.md says what follows. */
const LACKS: readonly string[] = [
  'people may hide who pushed',
  'no webhook reports that an approval was dismissed',
  "programs' accounts cannot be told from people's",
];

/** The status context that a branch requires. */
const STATUS_CONTEXT = 'portolan';
const DESCRIPTION = 140;
/** Begin what is written over again; only that of our own account counts. */
const COMMENT_MARK = '<!-- portolan:v1 -->';
const REVIEW_MARK = '<!-- portolan:findings ';
/** Findings that are shown at their lines. */
const MOST_LINES = 50;

/** @param token asked each time, so that another token is in use as soon as it is read */
export function forgejoClient(url: string, token: () => Promise<string>): ForgeClient {
  const headers = async () => ({ authorization: `token ${await token()}` });
  return openForgeClient({ name: FORGEJO, url, headers, pageSize: 'limit' });
}

export function forgejoForge(client: ForgeClient, repository: RepositoryName): GateForge {
  const at = `/repos/${encodeURIComponent(repository.owner)}/${encodeURIComponent(repository.repo)}`;
  return {
    name: FORGEJO,
    repository,
    lacks: LACKS,
    readPull: (number) => readPull(client, at, number),
    readReviews: async (number) => reviewsOf(await client.pages<ReviewData>(`${at}/pulls/${number}/reviews`)),
    readCommits: async (number) =>
      commitsOf(await client.pages<CommitData>(`${at}/pulls/${number}/commits?files=false`)),
    readPusher: (pull) => pusherOf(client, pull),
    readDirectory: (identities) => directoryOf(client, identities),
    // The policy names the app that makes a check, and these forges have no apps.
    readChecks: async (_, required) =>
      required.map(({ name }) => ({ name, state: 'waiting', why: `cannot be looked up on ${FORGEJO}` })),
    readTip: async (branch) => {
      const path = branch.split('/').map(encodeURIComponent).join('/');
      return (await client.ask<{ commit: { id: string } }>('GET', `${at}/branches/${path}`)).commit.id;
    },
    readPathChanges: async (commit, path, most) => {
      const less = 'stat=false&verification=false&files=false';
      const asked = `${at}/commits?sha=${commit}&path=${encodeURIComponent(path)}&${less}`;
      const listed = await client.pages<CommitData>(asked, most);
      return listed.map(({ sha, commit: { committer } }) => ({
        commit: sha,
        date: (committer?.date ?? '').slice(0, 10),
      }));
    },
    postStatus: ({ commit, report }) =>
      postStatus(client, at, {
        commit,
        context: STATUS_CONTEXT,
        state: stateOf(report),
        description: plain(headlineOf(report)),
      }),
    postFindings: (about) => postFindings(client, at, about),
    postComment: (about) => postComment(client, at, about),
  };
}

/** Sets a status. @throws PipelineError as the client */
export async function reportStatus(
  client: ForgeClient,
  repository: RepositoryName,
  status: CommitStatus,
): Promise<void> {
  await postStatus(client, `/repos/${repository.owner}/${repository.repo}`, status);
}

async function postStatus(
  client: ForgeClient,
  at: string,
  { commit, context, state, description, url }: Omit<CommitStatus, 'repository'>,
): Promise<void> {
  const said = { state, context, description: shortened(description, DESCRIPTION) };
  await client.ask('POST', `${at}/statuses/${commit}`, { ...said, ...(url ? { target_url: url } : {}) });
}

interface PullData {
  readonly number: number;
  readonly user: Account | null;
  readonly state: string;
  readonly draft?: boolean;
  readonly labels: readonly { readonly name: string }[] | null;
  readonly base: { readonly ref: string; readonly sha: string };
  readonly head: {
    readonly ref: string;
    readonly sha: string;
    readonly repo: { readonly name: string; readonly owner: Account } | null;
  };
}

async function readPull(client: ForgeClient, at: string, number: number): Promise<PullRequest> {
  const data = await client.ask<PullData>('GET', `${at}/pulls/${number}`);
  const { base, head } = data;
  return {
    number: data.number,
    author: personOf(data.user),
    base: { branch: base.ref, commit: base.sha },
    head: {
      branch: head.ref,
      commit: head.sha,
      repository: head.repo ? { owner: head.repo.owner.login, repo: head.repo.name } : undefined,
    },
    draft: data.draft ?? false,
    open: data.state === 'open',
    labels: (data.labels ?? []).map(({ name }) => name),
    commits: undefined,
  };
}

async function ownId(client: ForgeClient): Promise<number> {
  return (await client.ask<Account>('GET', '/user')).id;
}

interface CommentData {
  readonly id: number;
  readonly body: string;
  readonly user: Account | null;
}

async function postComment(client: ForgeClient, at: string, { number, report }: Reported): Promise<boolean> {
  if ((await readPull(client, at, number)).head.commit !== report.head) return false;
  const body = `${COMMENT_MARK}\n${markdownReport(report, { most: COMMENT_BYTES })}`;
  // This list has no pages.
  const comments = await client.ask<CommentData[]>('GET', `${at}/issues/${number}/comments`);
  const self = await ownId(client);
  const own = comments.find(({ user, body: text }) => user?.id === self && text.startsWith(COMMENT_MARK));
  if (own?.body === body) return true;
  if (own) await client.ask('PATCH', `${at}/issues/comments/${own.id}`, { body });
  else await client.ask('POST', `${at}/issues/${number}/comments`, { body });
  return true;
}

/** One review has all findings at their lines. It is left as it is while they stay the same, and replaced when they change. */
async function postFindings(client: ForgeClient, at: string, { number, report }: Reported): Promise<void> {
  const comments = commentsOf(report);
  const digest = createHash('sha256').update(JSON.stringify(comments)).digest('hex').slice(0, 32);
  const mark = `${REVIEW_MARK}${digest} -->`;
  const reviews = await client.pages<ReviewData>(`${at}/pulls/${number}/reviews`);
  const marked = reviews.filter(({ body }) => body.startsWith(REVIEW_MARK));
  const self = marked.length > 0 ? await ownId(client) : undefined;
  const own = marked.filter(({ user }) => user?.id === self);
  const current = own.find(({ body }) => comments.length > 0 && body.startsWith(mark));
  for (const { id } of own)
    if (id !== current?.id) await removeReview(client, `${at}/pulls/${number}/reviews/${id}`);
  if (current || comments.length === 0) return;
  const body = `${mark}\nPortolan found ${comments.length === 1 ? 'a problem' : `${comments.length} problems`} at these lines:`;
  const review = { event: 'COMMENT', commit_id: report.head, body, comments };
  await client.ask('POST', `${at}/pulls/${number}/reviews`, review);
}

/** Another run may have removed it. */
async function removeReview(client: ForgeClient, path: string): Promise<void> {
  try {
    await client.ask('DELETE', path);
  } catch (error) {
    if (!(error instanceof PipelineError) || error.code !== 'not-found') throw error;
  }
}

function commentsOf({ findings }: CheckReport) {
  return findings
    .filter(({ location: { file, line } }) => file !== '' && line > 0)
    .slice(0, MOST_LINES)
    .map(({ location: { file, line }, severity, rule, message, hint }) => ({
      path: file,
      new_position: line,
      body: `**${severity}** ${escaped(message)} (${code(rule)})${hint === undefined ? '' : `\n\nfix: ${escaped(hint)}`}`,
    }));
}
