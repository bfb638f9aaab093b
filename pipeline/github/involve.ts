/** Asks people to act on a report: suggested changes, missing reviews, and a label. */
import { createHash } from 'node:crypto';
import type { Need } from '../check/authority/missing-approvals.ts';
import { type CheckReport, enforcedState } from '../check/report.ts';
import type { Suggestion } from '../check/suggestions.ts';
import { PipelineError } from '../error.ts';
import type { Involving, Reported, RepositoryName } from '../forge/forge.ts';
import { codeSpan, escapedMarkdown } from '../report/markdown.ts';
import { plainText } from '../text.ts';
import { allPages, answerIfAny, dataOf, type GitHub } from './client.ts';
import { justSaid, ownAccount, type PostRequest } from './post-report.ts';
import type { Said } from './pull-queries.ts';
import { readReviews } from './pull-request.ts';

/**
 * Posts suggestions, sets the result's label and requests the missing reviews, each if the policy asks for it.
 *
 * @throws whatever `attempt` lets through
 */
export async function involvePeople(
  github: PostRequest,
  about: Reported,
  { attempt, info, warning }: Involving,
): Promise<void> {
  const { request } = about.report;
  if (request?.suggestions) await attempt('suggestions', () => postSuggestions(github, about));
  if (request?.labels) await attempt('labels', () => followLabels(github, about));
  if (!request?.ask) return;
  await attempt('review requests', async () => {
    const { asked, refused } = await askForReviews(github, about);
    if (asked.length > 0) info(plainText(`asked for a review: ${asked.join(', ')}`));
    if (refused.length > 0)
      warning(
        plainText(`cannot request a review from accounts that are not collaborators: ${refused.join(', ')}`),
      );
  });
}

// Suggestions: one review whose comments can be taken with a click. What was offered once is not offered again, whatever
// became of it.

/** Begins comments that suggest something; only those of our own account count. */
const SUGGESTION_MARK = '<!-- portolan:suggestion ';

/**
 * Offers the suggestions of a report that were not offered before.
 *
 * @throws PipelineError as the client, `usage` where a line is not part of what GitHub shows as the difference
 */
async function postSuggestions(
  { github, repository }: { readonly github: GitHub; readonly repository: RepositoryName },
  { number, report }: { readonly number: number; readonly report: CheckReport },
): Promise<void> {
  const { suggestions = [], head } = report;
  if (suggestions.length === 0) return;
  const marks = await marksOn(github, repository, number);
  const fresh = suggestions.filter((one) => !marks.has(markOf(one)));
  if (fresh.length === 0) return;
  const asked = {
    ...repository,
    pull_number: number,
    commit_id: head,
    event: 'COMMENT' as const,
    body: `Portolan can write ${fresh.length === 1 ? 'this line' : `these ${fresh.length} lines`}:`,
    comments: fresh.map((one) => ({
      path: one.file,
      line: one.line,
      side: 'RIGHT',
      body: bodyOf(one),
    })),
  };
  // Do not try again: GitHub refuses lines that are not in the diff.
  const request = { retries: 0 };
  await dataOf(github.rest.pulls.createReview({ ...asked, request }));
}

/** Marks of the comments that our own account wrote on a pull request's lines. */
async function marksOn(
  github: GitHub,
  repository: RepositoryName,
  number: number,
): Promise<ReadonlySet<string>> {
  const comments = await allPages(
    github.paginate(github.rest.pulls.listReviewComments, {
      ...repository,
      pull_number: number,
      per_page: 100,
    }),
  );
  const marked = comments.filter(({ body }) => body.startsWith(SUGGESTION_MARK));
  if (marked.length === 0) return new Set();
  const self = await ownAccount(github);
  const own = marked.filter(({ user }) => Number(user?.id) === self);
  return new Set(own.map(({ body }) => body.split('\n', 1)[0] ?? ''));
}

/** Stands for the line and what it should read, wherever the line has moved to. */
function markOf({ rule, file, before, after }: Suggestion): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([rule, file, before, after]))
    .digest('hex');
  return `${SUGGESTION_MARK}${digest.slice(0, 32)} -->`;
}

function bodyOf(suggestion: Suggestion): string {
  const { rule, message, after } = suggestion;
  const longest = Math.max(0, ...[...after.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${markOf(suggestion)}\n${escapedMarkdown(message)} (${codeSpan(rule)})\n\n${fence}suggestion\n${after}\n${fence}`;
}

// A label with the result on the pull request. Portolan changes no other labels than those listed here.

interface Label {
  readonly name: string;
  /** Hexadecimal, as GitHub takes it. */
  readonly color: string;
  readonly description: string;
}

const LABELS = {
  passed: { name: 'portolan/passed', color: '0e8a16', description: 'All checks of Portolan passed' },
  approval: {
    name: 'portolan/needs-approval',
    color: 'fbca04',
    description: 'The checks of Portolan passed; an approval is missing',
  },
  pending: {
    name: 'portolan/pending',
    color: 'c5def5',
    description: 'Portolan waits, or could not complete the check',
  },
  failed: { name: 'portolan/failed', color: 'd93f0b', description: 'Portolan found errors' },
} as const satisfies Readonly<Record<string, Label>>;

const OWN: ReadonlySet<string> = new Set(Object.values(LABELS).map(({ name }) => name));

/** The label for a report. If the policy enforces nothing, the one that it would have. */
export function labelOf(report: CheckReport): Label {
  const { verdict, authority } = report;
  switch (enforcedState(report)) {
    case 'success':
      return LABELS.passed;
    case 'failure':
      return LABELS.failed;
    case 'pending':
      return verdict === 'pass' && authority.decision === 'needs' ? LABELS.approval : LABELS.pending;
  }
}

/**
 * Gives a pull request the label of its report, and takes away the label of an earlier one. Nothing is written where the
 * label is there already. A label that the repository does not have is created.
 *
 * @throws PipelineError as the client
 */
export async function followLabels(
  { github, repository }: { readonly github: GitHub; readonly repository: RepositoryName },
  { number, report }: { readonly number: number; readonly report: CheckReport },
): Promise<void> {
  const issue = { ...repository, issue_number: number };
  const wanted = labelOf(report);
  const labels = await allPages(
    github.paginate(github.rest.issues.listLabelsOnIssue, { ...issue, per_page: 100 }),
  );
  const present = labels.map(({ name }) => name).filter((name) => OWN.has(name));
  if (!present.includes(wanted.name)) {
    await createLabel(github, repository, wanted);
    await dataOf(github.rest.issues.addLabels({ ...issue, labels: [wanted.name] }));
  }
  for (const name of present) {
    if (name !== wanted.name) await answerIfAny(github.rest.issues.removeLabel({ ...issue, name }));
  }
}

/** Creates a label, unless the repository has it. */
async function createLabel(github: GitHub, repository: RepositoryName, label: Label): Promise<void> {
  if (await answerIfAny(github.rest.issues.getLabel({ ...repository, name: label.name }))) return;
  try {
    await dataOf(github.rest.issues.createLabel({ ...repository, ...label, request: { retries: 0 } }));
  } catch (error) {
    // Another run created it, or this job may not: then GitHub creates it as it is added, without a colour.
    const isSkipped = error instanceof PipelineError && (error.code === 'usage' || error.code === 'denied');
    if (!isSkipped) throw error;
  }
}

// Reviews are asked of those whose approval is missing: once, and again when they have looked at something else.

/** Most people who are asked; GitHub takes fifteen. */
const MOST = 10;

/** Accounts that were asked for a review, and accounts that cannot be asked. */
interface AskedFor {
  readonly asked: readonly string[];
  readonly refused: readonly string[];
}

/**
 * Asks for the reviews that a report misses.
 *
 * @throws PipelineError as the client, but for people who are not collaborators
 */
async function askForReviews(
  request: PostRequest,
  { number, report }: { readonly number: number; readonly report: CheckReport },
): Promise<AskedFor> {
  const { github, repository } = request;
  const wanted = candidates(report);
  if (wanted.length === 0) return { asked: [], refused: [] };
  const said = justSaid(request, number);
  const [requests, reviews] = said
    ? [said.requests, said.reviews]
    : await Promise.all([readRequests(github, repository, number), readReviews(github, repository, number)]);
  const logins = wanted.filter((login) => isToAsk(login, { requests, reviews, head: report.head }));
  if (logins.length === 0) return { asked: [], refused: [] };
  const ask = (reviewers: string[]): Promise<unknown> =>
    dataOf(
      github.rest.pulls.requestReviewers({
        ...repository,
        pull_number: number,
        reviewers,
        request: { retries: 0 },
      }),
    );
  if (!(await isRefused(() => ask(logins)))) return { asked: logins, refused: [] };
  // One who is not a collaborator refuses all of them.
  const refused: string[] = [];
  for (const login of logins)
    if (logins.length === 1 || (await isRefused(() => ask([login])))) refused.push(login);
  return { asked: logins.filter((login) => !refused.includes(login)), refused };
}

/** Whether GitHub refuses a request (422): it does so for all logins if one cannot review. */
async function isRefused(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return false;
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'usage') return true;
    throw error;
  }
}

/** Logins whose approval would help; empty while something else must be done first. */
function candidates({ verdict, holds, authority }: CheckReport): string[] {
  const { decision, author = '', missing = [] } = authority;
  if (verdict !== 'pass' || decision !== 'needs' || holds.length > 0) return [];
  const isAuthor = (login: string): boolean => login.toLowerCase() === author.toLowerCase();
  // An approval now would be outdated by the author's next commit.
  if (missing.some(({ who }: Need) => who === 'author')) return [];
  const able = missing.flatMap(({ from }: Need) => from);
  return [...new Set(able)].filter((login) => !isAuthor(login)).slice(0, MOST);
}

/** Whether somebody was not asked yet, or has answered for another commit than the head. */
function isToAsk(
  login: string,
  { requests, reviews, head }: Pick<Said, 'requests' | 'reviews' | 'head'>,
): boolean {
  const name = login.toLowerCase();
  const given = reviews.filter(({ author }) => author.login.toLowerCase() === name);
  if (given.some(({ commit }) => commit === head)) return false;
  // More requests than answers: one is still open.
  return requests.filter((one) => one === name).length <= given.length;
}

/** The logins whose review was ever requested. */
async function readRequests(github: GitHub, repository: RepositoryName, number: number): Promise<string[]> {
  const events = await allPages(
    github.paginate(github.rest.issues.listEvents, {
      ...repository,
      issue_number: number,
      per_page: 100,
    }),
  );
  return events.flatMap((event) => {
    const reviewer = 'requested_reviewer' in event ? event.requested_reviewer : undefined;
    return event.event === 'review_requested' && reviewer ? [reviewer.login.toLowerCase()] : [];
  });
}
