/** What is said on GitHub: the status that a branch may require, the check run with its annotations, one comment. */
import type { Finding } from '../../catalog/finding.ts';
import { type CheckReport, headlineOf, stateOf } from '../check/report.ts';
import type { RepositoryName } from '../forge/forge.ts';
import { COMMENT_MARK, type Comment, DESCRIPTION, ownMarked, STATUS_CONTEXT } from '../forge/marks.ts';
import { COMMENT_BYTES, markdownReport } from '../report/markdown.ts';
import { plain, shortened } from '../text.ts';
import { ownAccount } from './account.ts';
import { answer, type GitHub, pages } from './client.ts';
import { readPullRequest } from './pull-request.ts';

export const CHECK_NAME = 'portolan / checks';

/** Stands in the comment that answers questions; it is written over again, so that nobody can flood a pull request. */
const ANSWER_MARK = '<!-- portolan-answer:v1 -->';

export interface PostRequest {
  readonly github: GitHub;
  readonly repository: RepositoryName;
  /** Where the job's log is. */
  readonly link: string | undefined;
  /** Where the pages of the repository are, such as `https://github.com`. */
  readonly server?: string | undefined;
  /** Most annotations in all. */
  readonly annotations: number;
}

/** Sets the status of a commit. @throws PipelineError as the client */
export async function postStatus(
  { github, repository, link }: PostRequest,
  { commit, report }: { readonly commit: string; readonly report: CheckReport },
): Promise<void> {
  await answer(
    github.rest.repos.createCommitStatus({
      ...repository,
      sha: commit,
      state: stateOf(report),
      context: STATUS_CONTEXT,
      description: shortened(plain(headlineOf(report)), DESCRIPTION),
      ...(link === undefined ? {} : { target_url: link }),
    }),
  );
}

/** GitHub takes so many annotations in one request, and adds those of the next one. */
const TOGETHER = 50;
const MOST_TITLE = 200;
const MOST_MESSAGE = 8000;

const CONCLUSIONS = { pass: 'success', fail: 'failure', inconclusive: 'neutral' } as const;

/** A branch may require the check run too: without enforcement it does not fail. */
function conclusionOf({ verdict, enforce }: CheckReport) {
  return enforce === 'off' && verdict === 'fail' ? 'neutral' : CONCLUSIONS[verdict];
}

/** Makes the check run with its annotations. @throws PipelineError as the client */
export async function postCheck(
  { github, repository, link, server, annotations: most }: PostRequest,
  { commit, report }: { readonly commit: string; readonly report: CheckReport },
): Promise<void> {
  const all = annotationsOf(report.findings).slice(0, most);
  const output = (from: number) => ({
    title: shortened(plain(headlineOf(report)), MOST_TITLE),
    summary: markdownReport(report, { most: COMMENT_BYTES, server }),
    annotations: all.slice(from, from + TOGETHER),
  });
  const done = { status: 'completed', conclusion: conclusionOf(report) } as const;
  const stateAt = (from: number) =>
    from + TOGETHER >= all.length ? done : ({ status: 'in_progress' } as const);
  const { id } = await answer(
    github.rest.checks.create({
      ...repository,
      name: CHECK_NAME,
      head_sha: commit,
      ...(link === undefined ? {} : { details_url: link }),
      ...stateAt(0),
      output: output(0),
    }),
  );
  for (let from = TOGETHER; from < all.length; from += TOGETHER) {
    await answer(
      github.rest.checks.update({
        ...repository,
        check_run_id: id,
        ...stateAt(from),
        output: output(from),
      }),
    );
  }
}

const LEVELS = { error: 'failure', warning: 'warning', info: 'notice' } as const;

function annotationsOf(findings: readonly Finding[]) {
  return findings
    .filter(({ location }) => location.file !== '')
    .map(({ location: { file, line }, severity, rule, message, hint, catalogs }) => ({
      path: file,
      start_line: line,
      end_line: line,
      annotation_level: LEVELS[severity],
      title: shortened(
        `${rule}${catalogs && catalogs.length > 1 ? ` (${catalogs.join(', ')})` : ''}`,
        MOST_TITLE,
      ),
      message: shortened(
        hint === undefined ? plain(message) : `${plain(message)}\nfix: ${plain(hint)}`,
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
  { github, repository, server }: PostRequest,
  { number, report }: { readonly number: number; readonly report: CheckReport },
): Promise<boolean> {
  const { head } = await readPullRequest(github, repository, number);
  if (head.commit !== report.head) return false;
  const text = markdownReport(report, { most: COMMENT_BYTES, server });
  await writeComment({ github, repository }, { number, mark: COMMENT_MARK, text });
  return true;
}

/** Writes the answer to a question in a comment of its own, or over the last answer. @throws PipelineError as the client */
export async function postAnswer(
  request: PostRequest,
  { number, text }: { readonly number: number; readonly text: string },
): Promise<void> {
  await writeComment(request, { number, mark: ANSWER_MARK, text });
}

async function writeComment(
  { github, repository }: Pick<PostRequest, 'github' | 'repository'>,
  { number, mark, text }: { readonly number: number; readonly mark: string; readonly text: string },
): Promise<void> {
  const body = `${mark}\n${text}`;
  const comments = await commentsOn({ github, repository }, number);
  const [own] = await ownMarked(comments, mark, () => ownAccount(github));
  if (own?.body === body) return;
  await answer(
    own
      ? github.rest.issues.updateComment({
          ...repository,
          comment_id: own.id,
          body,
        })
      : github.rest.issues.createComment({
          ...repository,
          issue_number: number,
          body,
        }),
  );
}

async function commentsOn(
  { github, repository }: Pick<PostRequest, 'github' | 'repository'>,
  number: number,
): Promise<(Comment & { readonly id: number })[]> {
  const comments = await pages(
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
