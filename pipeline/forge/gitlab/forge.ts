/** GitLab as a forge. */
import { headlineOf, stateOf } from '../../check/report.ts';
import { PipelineError } from '../../error.ts';
import type { CommitStatus } from '../../ports.ts';
import { COMMENT_BYTES, markdownReport } from '../../report/markdown.ts';
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
  reviewsOf,
} from './people.ts';

export const GITLAB = 'GitLab';

/** What GitLab does not vouch for; docs/threat-model.md says what follows. */
const LACKS: readonly string[] = [
  'approvals do not name the commit that was approved',
  'a push of many branches does not say who pushed each of them',
  'whoever may push to the source project can set the status',
];

/** The status that people look for. */
const STATUS_NAME = 'portolan';
const DESCRIPTION = 140;
/** Begins the note that is written over again; only that of our own account counts. */
const COMMENT_MARK = '<!-- portolan:v1 -->';

/** @param token asked each time, so that another token is in use as soon as it is read */
export function gitLabClient(url: string, token: () => Promise<string>): ForgeClient {
  const headers = async () => ({ 'private-token': await token() });
  return openForgeClient({ name: GITLAB, url, headers, pageSize: 'per_page' });
}

/** The last part of a project's path is its own name; groups lie in groups. */
export function projectName(path: string): RepositoryName {
  const slash = path.lastIndexOf('/');
  return { owner: path.slice(0, slash), repo: path.slice(slash + 1) };
}

export function gitLabForge(client: ForgeClient, repository: RepositoryName): GateForge {
  const at = projectAt(repository);
  const merge = (number: number): string => `${at}/merge_requests/${number}`;
  return {
    name: GITLAB,
    repository,
    lacks: LACKS,
    readPull: (number) => readPull(client, merge(number), repository),
    readReviews: (number) => reviewsOf(client, merge(number)),
    readCommits: async (number) =>
      commitsOf(client, await client.pages<CommitData>(`${merge(number)}/commits`)),
    readPusher: (pull) => pusherOf(client, pull),
    readDirectory: (identities) => directoryOf(client, identities),
    // The policy names the app that makes a check, and GitLab has no apps.
    readChecks: async (_, required) =>
      required.map(({ name }) => ({ name, state: 'waiting', why: `cannot be looked up on ${GITLAB}` })),
    readTip: async (branch) => {
      const path = `${at}/repository/branches/${encodeURIComponent(branch)}`;
      return (await client.ask<{ commit: { id: string } }>('GET', path)).commit.id;
    },
    readPathChanges: async (commit, path, most) => {
      const asked = `${at}/repository/commits?ref_name=${commit}&path=${encodeURIComponent(path)}`;
      const listed = await client.pages<CommitData>(asked, most);
      return listed.map(({ id, committed_date: date }) => ({ commit: id, date: dayOf(date) }));
    },
    postStatus: async ({ commit, report }) => {
      const number = report.request?.number;
      // Without a branch GitLab takes one that has the commit, which no branch here has if it comes from a fork.
      const branch = number === undefined ? undefined : (await readData(client, merge(number))).source_branch;
      const said = { context: STATUS_NAME, state: stateOf(report), description: plain(headlineOf(report)) };
      await postStatus(client, at, { commit, ...said }, branch);
    },
    // The note has them; at their lines they are in the Code Quality report of a job (docs/gitlab.md).
    postFindings: async () => undefined,
    postComment: (about) => postNote(client, merge(about.number), about),
  };
}

/** A day in UTC, whatever time zone the committer was in. */
function dayOf(date: string): string {
  return new Date(date).toISOString().slice(0, 10);
}

function projectAt({ owner, repo }: RepositoryName): string {
  return `/projects/${encodeURIComponent(`${owner}/${repo}`)}`;
}

/** Sets a status. @throws PipelineError as the client */
export async function reportGitLabStatus(client: ForgeClient, status: CommitStatus): Promise<void> {
  await postStatus(client, projectAt(projectName(status.repository)), status);
}

const STATES: Readonly<Record<string, string>> = { success: 'success', pending: 'pending' };

async function postStatus(
  client: ForgeClient,
  at: string,
  { commit, context, state, description, url }: Omit<CommitStatus, 'repository'>,
  branch?: string,
): Promise<void> {
  const said = {
    state: STATES[state] ?? 'failed',
    name: context,
    description: shortened(description, DESCRIPTION),
  };
  const more = { ...(url ? { target_url: url } : {}), ...(branch === undefined ? {} : { ref: branch }) };
  try {
    await client.ask('POST', `${at}/statuses/${commit}`, { ...said, ...more });
  } catch (error) {
    // GitLab takes no second "pending" after the first.
    const isRepeated = error instanceof PipelineError && error.message.includes('Cannot transition status');
    if (!isRepeated || said.state !== 'pending') throw error;
  }
}

interface MergeData {
  readonly iid: number;
  readonly author: Account | null;
  readonly state: string;
  readonly draft?: boolean;
  readonly labels: readonly string[];
  readonly sha: string;
  readonly target_branch: string;
  readonly source_branch: string;
  readonly project_id: number;
  /** Null where the fork is gone. */
  readonly source_project_id: number | null;
  readonly diff_refs?: { readonly start_sha: string } | null;
}

function readData(client: ForgeClient, at: string): Promise<MergeData> {
  return client.ask<MergeData>('GET', at);
}

async function readPull(client: ForgeClient, at: string, own: RepositoryName): Promise<PullRequest> {
  const data = await readData(client, at);
  return {
    number: data.iid,
    author: personOf(data.author),
    base: { branch: data.target_branch, commit: data.diff_refs?.start_sha ?? data.sha },
    head: { branch: data.source_branch, commit: data.sha, repository: await sourceOf(client, data, own) },
    draft: data.draft ?? false,
    open: data.state === 'opened',
    labels: data.labels,
    commits: undefined,
  };
}

async function sourceOf(
  client: ForgeClient,
  { source_project_id: source, project_id: target }: MergeData,
  own: RepositoryName,
): Promise<RepositoryName | undefined> {
  if (source === target) return own;
  if (source === null) return undefined;
  const found = await client.find<{ path_with_namespace: string }>(`/projects/${source}`);
  return found && projectName(found.path_with_namespace);
}

interface NoteData {
  readonly id: number;
  readonly body: string;
  readonly author: Account | null;
}

async function postNote(client: ForgeClient, at: string, { report }: Reported): Promise<boolean> {
  if ((await readData(client, at)).sha !== report.head) return false;
  const body = withoutCommands(`${COMMENT_MARK}\n${markdownReport(report, { most: COMMENT_BYTES })}`);
  const notes = await client.pages<NoteData>(`${at}/notes`);
  const self = (await client.ask<Account>('GET', '/user')).id;
  const own = notes.find(({ author, body: text }) => author?.id === self && text.startsWith(COMMENT_MARK));
  if (own?.body === body) return true;
  if (own) await client.ask('PUT', `${at}/notes/${own.id}`, { body });
  else await client.ask('POST', `${at}/notes`, { body });
  return true;
}

/** GitLab does what lines like `/merge` and `/approve` of a note say, as its author. */
export function withoutCommands(text: string): string {
  return text.replaceAll(/^([\s>]*)\//gm, '$1&#47;');
}
