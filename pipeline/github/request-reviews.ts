/** Asking for reviews: those whose approval is missing, once, and again when they have looked at something else. */

import type { GivenReview } from '../check/authority/approval.ts';
import type { Need } from '../check/authority/missing-approvals.ts';
import type { CheckReport } from '../check/report.ts';
import { PipelineError } from '../error.ts';
import type { RepositoryName } from '../forge/forge.ts';
import { allPages, dataOf, type GitHub } from './client.ts';
import { justSaid, type PostRequest } from './post-report.ts';
import { readReviews } from './pull-request.ts';

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
export async function askForReviews(
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

interface Past {
  /** Logins, lower case, once for each time that they were asked. */
  readonly requests: readonly string[];
  readonly reviews: readonly GivenReview[];
  readonly head: string;
}

/** Whether somebody was not asked yet, or has answered for another commit than the head. */
function isToAsk(login: string, { requests, reviews, head }: Past): boolean {
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
