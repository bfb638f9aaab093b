/** GitLab as a forge. */
import { PipelineError } from '../../error.ts';
import type { CommitStatus } from '../../ports.ts';
import { COMMENT_BYTES, markdownReport } from '../../report/markdown.ts';
import { shortenedText } from '../../text.ts';
import { directoryOf } from '../directory.ts';
import type { GateForge, OpenPull, PullRequest, Reported, RepositoryName } from '../forge.ts';
import { answerIfReadable, type ForgeClient, openForgeClient, unlessGone } from '../http.ts';
import { COMMENT_MARK, DESCRIPTION, ownMarked, STATUS_CONTEXT } from '../marks.ts';
import { commitId, day, flag, list, nullable, object, optional, type Read, text, whole } from '../reply.ts';
import { account, commitsOf, lookupsOf, projectAt, pusherOf, reviewsOf } from './people.ts';

const GITLAB = 'GitLab';

/** docs/threat-model.md lists the consequences. */
const MISSING_GUARANTEES: readonly string[] = [
  'approvals do not name the commit that was approved',
  'a push of many branches does not say who pushed each of them',
  'whoever may push to the source project can set the status',
];

/** A client of GitLab's API. @param token asked each time, so that another token is in use as soon as it is read */
export function gitLabClient(url: string, token: () => Promise<string>): ForgeClient {
  const headers = async () => ({ 'private-token': await token() });
  return openForgeClient({ name: GITLAB, url, headers, pageSize: 'per_page' });
}

/** The last part of a project's path is its own name; groups lie in groups. */
export function projectName(path: string): RepositoryName {
  const slash = path.lastIndexOf('/');
  return { owner: path.slice(0, slash), repo: path.slice(slash + 1) };
}

/** GitLab as the gate sees it. Its merge requests are the gate's pull requests. */
export function gitLabForge(client: ForgeClient, repository: RepositoryName): GateForge {
  const project = projectAt(repository);
  const merge = (number: number): string => `${project}/merge_requests/${number}`;
  return {
    name: GITLAB,
    repository,
    missingGuarantees: MISSING_GUARANTEES,
    readPull: (number) => readPull(client, merge(number), repository),
    readOpen: async () =>
      (await client.pages(`${project}/merge_requests?state=opened`, openRequest)).map(openOf),
    readStatuses: async (commit) => {
      const listed = await statusesOf(client, project, { commit, context: STATUS_CONTEXT });
      return listed.map(({ id, status, target_url: link }) => ({
        id,
        state: STATE_OF_GITLAB[status] ?? status,
        link: link || undefined,
      }));
    },
    readReviews: (number) => reviewsOf(client, merge(number)),
    readCommits: (number) => commitsOf(client, merge(number)),
    readPusher: (pull) => pusherOf(client, pull),
    readDirectory: (identities) => directoryOf(identities, lookupsOf(client)),
    // The policy names the app that makes a check, and GitLab has no apps.
    readChecks: async (_, required) =>
      required.map(({ name }) => ({ name, state: 'waiting', why: `cannot be looked up on ${GITLAB}` })),
    readTip: async (name) => {
      const path = `${project}/repository/branches/${encodeURIComponent(name)}`;
      return (await client.get(path, branch)).commit.id;
    },
    readFile: async (name, path) => {
      const asked = `${project}/repository/files/${encodeURIComponent(path)}?ref=${encodeURIComponent(name)}`;
      const found = await unlessGone(client.get(asked, file), undefined);
      return found && Buffer.from(found.content, 'base64');
    },
    readPathChanges: async (tip, path, most) => {
      // What a merged branch had before its last commit was never published.
      const asked = `${project}/repository/commits?ref_name=${tip}&path=${encodeURIComponent(path)}&first_parent=true`;
      const listed = await client.pages(asked, change, most);
      return listed.map(({ id, committed_date: date }) => ({ commit: id, date }));
    },
    postStatus: async ({ commit: head, state, description, pulls }) => {
      const newStatus = { commit: head, context: STATUS_CONTEXT, state, description };
      const answer = { commit: head, passed: state === 'success' };
      const postTo = async (number: number): Promise<void> =>
        postStatus(client, project, newStatus, placeOf(await readData(client, merge(number)), head));
      // At once: a failure for one merge request must not prevent the others.
      await Promise.all([
        ...(pulls.length === 0 ? [postStatus(client, project, newStatus)] : pulls.map(postTo)),
        ...pulls.map((number) => answerStatusChecks(client, merge(number), STATUS_CONTEXT, answer)),
      ]);
    },
    // The note has them; at their lines they are in the Code Quality report of a job (docs/gitlab.md).
    postFindings: async () => undefined,
    postComment: (about) => postNote(client, merge(about.number), about),
  };
}

/** Sets a status. @throws PipelineError as the client */
export async function reportGitLabStatus(client: ForgeClient, status: CommitStatus): Promise<void> {
  await postStatus(client, projectAt(projectName(status.repository)), status);
}

/** Whether a status is the newest one of its context. @throws PipelineError as the client */
export async function showsGitLabStatus(client: ForgeClient, status: CommitStatus): Promise<boolean> {
  const project = projectAt(projectName(status.repository));
  const [newest] = await statusesOf(client, project, status);
  const { state, description } = saidOf(status);
  if (newest?.status !== state || newest.description !== description) return false;
  return newest.target_url === status.url;
}

/** The statuses of a commit and a name, the newest first. */
async function statusesOf(
  client: ForgeClient,
  project: string,
  { commit, context }: Pick<CommitStatus, 'commit' | 'context'>,
): Promise<Read<typeof statusReply>[]> {
  const asked = `${project}/repository/commits/${commit}/statuses?name=${encodeURIComponent(context)}&all=true`;
  // All of them: before 17.8, GitLab lists the oldest first, whatever it is asked.
  const listed = await client.pages(asked, statusReply);
  return listed.sort((a, b) => b.id - a.id);
}

/** A status in the form of the API, without its link. */
function saidOf({ context, state, description }: Pick<CommitStatus, 'context' | 'state' | 'description'>) {
  return {
    state: STATES[state] ?? 'failed',
    name: context,
    description: shortenedText(description, DESCRIPTION),
  };
}

const STATES: Readonly<Record<string, string>> = { success: 'success', pending: 'pending' };

/**
 * Sets a commit's status. A second "pending", which GitLab refuses, changes nothing.
 *
 * @param place the pipeline that gets it; by default the latest one of the commit
 */
async function postStatus(
  client: ForgeClient,
  project: string,
  { commit: head, url, ...status }: Omit<CommitStatus, 'repository'>,
  place: Place = { commit: head },
): Promise<void> {
  const { commit, ...pipeline } = place;
  const said = saidOf(status);
  const more = { ...(url ? { target_url: url } : {}), ...pipeline };
  try {
    await client.send('POST', `${project}/statuses/${commit}`, { ...said, ...more });
  } catch (error) {
    const isRepeated = error instanceof PipelineError && error.message.includes('Cannot transition status');
    if (!isRepeated || said.state !== 'pending') throw error;
  }
}

/** The pipeline that gets a status: the latest one of a commit and a ref, or the one that is named. */
interface Place {
  readonly commit: string;
  readonly ref?: string;
  readonly pipeline_id?: number;
}

/**
 * Where GitLab looks for the status of a head: in the merge request's latest pipeline. Pipelines for merge requests come
 * before those of the branch (app/finders/ci/pipelines_for_merge_request_finder.rb); without any, the status makes one
 * (https://docs.gitlab.com/ci/ci_cd_for_external_repos/external_commit_statuses). A fork's branch is not the branch of the
 * same name here, which may be protected.
 */
function placeOf(data: MergeRequest, head: string): Place {
  const { iid, sha, source_branch: source, source_project_id: from, project_id: into } = data;
  const { head_pipeline: pipeline } = data;
  const refs = `refs/merge-requests/${iid}/`;
  // A pipeline for merged results is of the commit of the merge. A result never goes to the pipeline of another head.
  const isOfHead = pipeline?.sha === head || pipeline?.ref === `${refs}merge`;
  if (pipeline?.ref.startsWith(refs) && isOfHead && sha === head)
    return { commit: pipeline.sha, ref: pipeline.ref, pipeline_id: pipeline.id };
  return { commit: head, ref: from === into ? source : `${refs}head` };
}

/** Text in base64. */
const file = object({ content: text });

const branch = object({ commit: object({ id: commitId }) });

const change = object({ id: commitId, committed_date: day });

const statusReply = object({
  id: whole,
  status: text,
  description: optional(text),
  target_url: optional(text),
});

/** GitLab's names for the states that Portolan sets, where they differ. */
const STATE_OF_GITLAB: Readonly<Record<string, string>> = { failed: 'failure' };

const openFields = {
  iid: whole,
  author: account,
  draft: flag,
  labels: list(text),
  sha: commitId,
  target_branch: text,
};
const openRequest = object(openFields);

/** An open merge request from the API's. */
function openOf({
  iid,
  author,
  draft,
  labels,
  sha,
  target_branch: branch,
}: Read<typeof openRequest>): OpenPull {
  return { number: iid, author, base: { branch }, head: { commit: sha }, draft, labels };
}

const mergeRequest = object({
  ...openFields,
  state: text,
  source_branch: text,
  project_id: whole,
  /** Null where the fork is gone. */
  source_project_id: nullable(whole),
  head_pipeline: optional(object({ id: whole, sha: commitId, ref: text })),
});
type MergeRequest = Read<typeof mergeRequest>;

function readData(client: ForgeClient, merge: string): Promise<MergeRequest> {
  return client.get(merge, mergeRequest);
}

/** A merge request from the API's. @param own the repository that it is for */
async function readPull(client: ForgeClient, merge: string, own: RepositoryName): Promise<PullRequest> {
  const data = await readData(client, merge);
  return {
    number: data.iid,
    author: data.author,
    base: { branch: data.target_branch },
    head: { branch: data.source_branch, commit: data.sha, repository: await sourceOf(client, data, own) },
    draft: data.draft,
    open: data.state === 'opened',
    labels: data.labels,
    commits: undefined,
  };
}

/** The repository of the head: for a fork another project; undefined if that is gone or hidden. */
async function sourceOf(
  client: ForgeClient,
  { source_project_id: source, project_id: target }: MergeRequest,
  own: RepositoryName,
): Promise<RepositoryName | undefined> {
  if (source === target) return own;
  if (source === null) return undefined;
  const found = await client.find(`/projects/${source}`, object({ path_with_namespace: text }));
  return found && projectName(found.path_with_namespace);
}

const note = object({ id: whole, body: text, author: nullable(account) });

/** Writes the report to the gate's note. @returns false if the merge request has a newer commit */
async function postNote(client: ForgeClient, merge: string, { report }: Reported): Promise<boolean> {
  if ((await readData(client, merge)).sha !== report.head) return false;
  const body = withoutCommands(`${COMMENT_MARK}\n${markdownReport(report, { most: COMMENT_BYTES })}`);
  const notes = (await client.pages(`${merge}/notes`, note)).map(({ author, ...rest }) => ({
    ...rest,
    user: author,
  }));
  const [own] = await ownMarked(notes, COMMENT_MARK, async () => (await client.get('/user', account)).id);
  if (own?.body === body) return true;
  if (own) await client.send('PUT', `${merge}/notes/${own.id}`, { body });
  else await client.send('POST', `${merge}/notes`, { body });
  return true;
}

/**
 * A note in which no line begins with a command, such as `/merge` or `/approve`, also behind `>`: GitLab would execute it as
 * the note's author. The slash becomes an entity.
 */
export function withoutCommands(written: string): string {
  return written.replaceAll(/^([\s>]*)\//gm, '$1&#47;');
}

// External status checks: services whose answer a merge request waits for (GitLab Ultimate, `doc/api/status_checks.md`).

const statusCheck = object({ id: whole, name: text });

/** Replies for a merge request. GitLab fails a check that is pending for two minutes, so Portolan never sends "pending". */
interface StatusAnswer {
  readonly commit: string;
  readonly passed: boolean;
}

/**
 * Answers the external status checks of a name; there are none where the plan lacks them.
 *
 * @param merge path of the merge request
 */
export async function answerStatusChecks(
  client: ForgeClient,
  merge: string,
  name: string,
  { commit, passed }: StatusAnswer,
): Promise<void> {
  const found = await answerIfReadable(client.pages(`${merge}/status_checks`, statusCheck));
  for (const check of (found ?? []).filter((one) => one.name === name)) {
    const response = {
      external_status_check_id: check.id,
      sha: commit,
      status: passed ? 'passed' : 'failed',
    };
    await client.send('POST', `${merge}/status_check_responses`, response).catch((error: unknown) => {
      // The merge request has a newer head, which another run answers for.
      if (!(error instanceof PipelineError && error.code === 'conflict')) throw error;
    });
  }
}
