/** Posts a result on GitHub: the status that a branch may require, a check run with annotations, and one comment. */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Finding } from '../../catalog/finding.ts';
import { type CheckReport, enforcedState, headlineOf } from '../check/report.ts';
import { PipelineError } from '../error.ts';
import type { HeadStatus, RepositoryName } from '../forge/forge.ts';
import { COMMENT_MARK, type Comment, DESCRIPTION, ownMarked, STATUS_CONTEXT } from '../forge/marks.ts';
import { COMMENT_BYTES, markdownReport } from '../report/markdown.ts';
import { plainText, shortenedText } from '../text.ts';
import { allPages, answerIfAny, dataOf, type GitHub } from './client.ts';
import { sendQuery } from './graphql.ts';
import type { Said } from './pull-queries.ts';
import { readPullRequest } from './pull-request.ts';

/** Name of the check run. Branch rules should require the status instead. */
const CHECK_NAME = 'portolan findings (do not require)';

/** Marks the comment that answers questions. Each answer replaces it, so that nobody can flood a pull request. */
const ANSWER_MARK = '<!-- portolan-answer:v1 -->';

export interface PostRequest {
  readonly github: GitHub;
  readonly repository: RepositoryName;
  /** Link to the job's log. */
  readonly link: string | undefined;
  /** Address of the web interface, such as `https://github.com`. */
  readonly server?: string | undefined;
  /** Most annotations in all. */
  readonly annotations: number;
  /** Commits that had no status before this run: they are far from the limit. */
  readonly unposted?: ReadonlySet<string> | undefined;
  /** The comments and statuses of pull requests when they were last read, with the time in ms. */
  said?: { readonly of: ReadonlyMap<number, Said>; readonly at: number } | undefined;
}

/** Milliseconds for which the comments of a pull request may be reused; after that, another run may have written one. */
const RECENT = 15_000;

/** The comments and statuses of a pull request, if they were just read together with its head. */
export function justSaid({ said }: PostRequest, number: number): Said | undefined {
  return said && Date.now() - said.at < RECENT ? said.of.get(number) : undefined;
}

/** GitHub takes so many statuses of one name on one commit. The last one must never be a success, which would stay. */
const MOST_STATUSES = 1000;
/** For the runs that end after it: each sets two. */
const RESERVED = 20;

/**
 * Keeps a success from being the last status that GitHub takes on a commit.
 *
 * @throws PipelineError `usage` where a success could be the last status of a commit
 */
async function refuseLastSuccess({ github, repository }: PostRequest, commit: string): Promise<void> {
  const asked = { ...repository, ref: commit, per_page: 100 };
  // Few commits have more than 800 statuses: only of those all are counted.
  const late = await dataOf(github.rest.repos.listCommitStatusesForRef({ ...asked, page: 9 }));
  if (late.length === 0) return;
  const all = await allPages(github.paginate(github.rest.repos.listCommitStatusesForRef, asked));
  const own = all.filter(({ context }) => context === STATUS_CONTEXT).length;
  if (own < MOST_STATUSES - RESERVED) return;
  const message = `the commit has ${own} statuses portolan, and GitHub takes no more than ${MOST_STATUSES}`;
  throw new PipelineError('usage', message, { hint: 'push a new commit' });
}

/** Sets the status of a commit. @throws PipelineError as the client, `usage` where GitHub takes no more */
export async function postStatus(
  request: PostRequest,
  { commit, state, description }: Pick<HeadStatus, 'commit' | 'state' | 'description'>,
): Promise<void> {
  const { github, repository, link } = request;
  if (state === 'success' && !request.unposted?.has(commit)) await refuseLastSuccess(request, commit);
  await dataOf(
    github.rest.repos.createCommitStatus({
      ...repository,
      sha: commit,
      state,
      context: STATUS_CONTEXT,
      description: shortenedText(description, DESCRIPTION),
      ...(link === undefined ? {} : { target_url: link }),
    }),
  );
}

/** GitHub takes so many annotations in one request, and adds those of the next one. */
const TOGETHER = 50;
/** Characters of a title, of which GitHub takes 255, and of an annotation's message, of which it takes 64 KB. */
const MOST_TITLE = 200;
const MOST_MESSAGE = 8000;

/** `neutral` satisfies a branch that requires the check run; `action_required` does not. */
const CONCLUSIONS = { success: 'success', pending: 'action_required', failure: 'failure' } as const;

/** A branch may require the check run in place of the status: it passes where the status does. */
function conclusionOf(report: CheckReport) {
  const state = enforcedState(report);
  return report.enforce === 'off' && state !== 'success' ? 'neutral' : CONCLUSIONS[state];
}

/** Makes the check run with its annotations. @throws PipelineError as the client */
export async function postCheck(
  { github, repository, link, server, annotations: most }: PostRequest,
  { commit, report }: { readonly commit: string; readonly report: CheckReport },
): Promise<void> {
  const all = annotationsOf(report.findings).slice(0, most);
  const output = (from: number) => ({
    title: shortenedText(plainText(headlineOf(report)), MOST_TITLE),
    summary: markdownReport(report, { most: COMMENT_BYTES, server }),
    annotations: all.slice(from, from + TOGETHER),
  });
  const done = { status: 'completed', conclusion: conclusionOf(report) } as const;
  const stateAt = (from: number) =>
    from + TOGETHER >= all.length ? done : ({ status: 'in_progress' } as const);
  const created = {
    ...repository,
    name: CHECK_NAME,
    head_sha: commit,
    external_id: randomUUID(),
    ...(link === undefined ? {} : { details_url: link }),
    ...stateAt(0),
    output: output(0),
  };
  const id = await createCheck(github, created);
  for (let from = TOGETHER; from < all.length; from += TOGETHER) {
    await dataOf(
      github.rest.checks.update({
        ...repository,
        check_run_id: id,
        ...stateAt(from),
        output: output(from),
      }),
    );
  }
}

type NewCheck = NonNullable<Parameters<GitHub['rest']['checks']['create']>[0]> & {
  readonly head_sha: string;
  readonly external_id: string;
};

/** Creates a check run, once, even if the first answer is lost. @returns its id */
function createCheck(github: GitHub, created: NewCheck): Promise<number> {
  const { owner, repo, head_sha: ref, external_id: own } = created;
  return createOnce(
    async () => Number((await dataOf(github.rest.checks.create({ ...created, request: { retries: 0 } }))).id),
    async () => {
      const asked = { owner, repo, ref, check_name: CHECK_NAME, filter: 'all' as const, per_page: 100 };
      const { check_runs: runs } = await dataOf(github.rest.checks.listForRef(asked));
      const found = runs.find((run) => run.external_id === own);
      return found && Number(found.id);
    },
  );
}

const LEVELS = { error: 'failure', warning: 'warning', info: 'notice' } as const;

/** Findings as annotations of a check run. */
function annotationsOf(findings: readonly Finding[]) {
  return findings
    .filter(({ location }) => location.file !== '')
    .map(({ location: { file, line }, severity, rule, message, hint, catalogs }) => ({
      path: file,
      start_line: line,
      end_line: line,
      annotation_level: LEVELS[severity],
      title: shortenedText(
        `${rule}${catalogs && catalogs.length > 1 ? ` (${catalogs.join(', ')})` : ''}`,
        MOST_TITLE,
      ),
      message: shortenedText(
        hint === undefined ? plainText(message) : `${plainText(message)}\nfix: ${plainText(hint)}`,
        MOST_MESSAGE,
      ),
    }));
}

/**
 * Writes the pull request's one comment, or writes it over again.
 *
 * @returns false when the pull request has moved on: then the comment is for another run to write
 * @throws PipelineError as the client
 */
export async function postComment(
  request: PostRequest,
  { number, report }: { readonly number: number; readonly report: CheckReport },
): Promise<boolean> {
  const { github, repository, server } = request;
  const said = justSaid(request, number);
  const head = said?.head ?? (await readPullRequest(github, repository, number)).head.commit;
  if (head !== report.head) return false;
  const text = markdownReport(report, { most: COMMENT_BYTES, server });
  await writeComment({ github, repository }, { number, mark: COMMENT_MARK, text, said });
  return true;
}

/** Writes the answer to a question as a comment, or replaces the last answer. @throws PipelineError as the client */
export async function postAnswer(
  request: Pick<PostRequest, 'github' | 'repository'>,
  { number, text }: { readonly number: number; readonly text: string },
): Promise<void> {
  await writeComment(request, { number, mark: ANSWER_MARK, text });
}

interface Written {
  readonly number: number;
  readonly mark: string;
  readonly text: string;
  readonly said?: Said | undefined;
}

/** Writes a comment, or updates the one of its kind that this account wrote before. */
async function writeComment(
  { github, repository }: Pick<PostRequest, 'github' | 'repository'>,
  { number, mark, text, said }: Written,
): Promise<void> {
  const body = `${mark}\n${text}`;
  const findAll = async () =>
    ownMarked(await commentsOn({ github, repository }, number), mark, () => ownAccount(github));
  const isMarked = said?.comments.some((one) => one.body.startsWith(mark));
  const known = said && (await ownMarked(said.comments, mark, async () => said.self));
  // A mark that is not our own may be forged, or GraphQL gave no number for its author: the REST API tells.
  const [own, ...more] = known && (known.length > 0 || !isMarked) ? known : await findAll();
  // A comment that was created twice, because an answer was lost, would stay as it is for ever.
  for (const { id } of more)
    await answerIfAny(github.rest.issues.deleteComment({ ...repository, comment_id: id }));
  if (own?.body === body) return;
  if (own) {
    await dataOf(github.rest.issues.updateComment({ ...repository, comment_id: own.id, body }));
    return;
  }
  const asked = { ...repository, issue_number: number, body, request: { retries: 0 } };
  await createOnce(
    async () => Number((await dataOf(github.rest.issues.createComment(asked))).id),
    async () => (await findAll())[0]?.id,
  );
}

/** All comments of a pull request. */
async function commentsOn(
  { github, repository }: Pick<PostRequest, 'github' | 'repository'>,
  number: number,
): Promise<(Comment & { readonly id: number })[]> {
  const comments = await allPages(
    github.paginate(github.rest.issues.listComments, {
      ...repository,
      issue_number: number,
      per_page: 100,
    }),
  );
  return comments.map(({ id, body = '', user }) => ({
    id: Number(id),
    body,
    user: user && { id: Number(user.id) },
  }));
}

// Creating something on GitHub once, although an answer may be lost.

/** Tries where answers are lost. */
const TRIES = 3;

/**
 * Creates something. A request that fails may have taken effect: before it is sent again, the thing is looked for.
 *
 * @param create sends the request, and does not send it again by itself
 * @param find what an earlier try has created
 * @param pause before it is looked for, in ms, for each try
 */
export async function createOnce<T>(
  create: () => Promise<T>,
  find: () => Promise<T | undefined>,
  pause = 500,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await create();
    } catch (error) {
      if (!isUncertain(error) || tries === TRIES) throw error;
    }
    await setTimeout(pause * tries);
    const found = await find();
    if (found !== undefined) return found;
  }
}

function isUncertain(error: unknown): boolean {
  return error instanceof PipelineError && (error.code === 'unreachable' || error.code === 'bad-answer');
}

// The account that makes requests: only its comments are Portolan's.

/** The account of jobs that use their own token. Its number differs on GitHub Enterprise Server. */
const ACTIONS_BOT = 'github-actions[bot]';

/** Number of the account that makes requests; undefined if GitHub does not name it. No comment then counts as Portolan's. */
export async function ownAccount(github: GitHub): Promise<number | undefined> {
  const viewer = await sendQuery<{ viewer: { databaseId: number | null } }>(
    github,
    'query { viewer { databaseId } }',
    {},
  ).catch(() => undefined);
  if (viewer?.viewer.databaseId) return viewer.viewer.databaseId;
  const user = await answerIfAny(github.rest.users.getAuthenticated());
  if (user) return Number(user.id);
  const bot = await answerIfAny(github.rest.users.getByUsername({ username: ACTIONS_BOT }));
  return bot && Number(bot.id);
}
