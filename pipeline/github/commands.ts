/** Commands in comments on pull requests: each is the whole first line, so that none is given in passing. */
import type { RepositoryName } from '../forge/forge.ts';
import { STATUS_CONTEXT } from '../forge/marks.ts';
import type { Question } from '../report/answer.ts';
import { allPages, dataOf, type GitHub } from './client.ts';

const RECHECK = /^\/recheck[ \t]*(?:\r?\n|$)/;

/** Questions about the report, which is made again for them. */
const WHO = /^\/who[ \t]*(?:\r?\n|$)/;
const EXPLAIN = /^\/explain[ \t]+([a-z0-9-]{1,50}\/[a-z0-9-]{1,50})[ \t]*(?:\r?\n|$)/;

/** The command of a comment, `/recheck` where it has no question; undefined if it has none. */
export function commandIn(body: string): { question?: Question } | undefined {
  const [, rule] = EXPLAIN.exec(body) ?? [];
  if (rule !== undefined) return { question: { kind: 'explain', rule } };
  if (WHO.test(body)) return { question: { kind: 'who' } };
  return RECHECK.test(body) ? {} : undefined;
}

// How often people may ask about a pull request: each command costs requests of an account that all of them share.

/** Commands in an hour on one pull request. */
const MOST = 6;
/** Checks of a head in an hour, whatever asks for them, beyond which a command starts no more. */
const MOST_CHECKS = 20;
const HOUR = 60 * 60 * 1000;
/** The most entries in one reply of GitHub. */
const PAGE = 100;

type Asking = { readonly github: GitHub; readonly repository: RepositoryName };

/**
 * Whether a command on a pull request is within the budget of its last hour; it is among those that are counted. Of more
 * comments than a page has, none starts a check.
 */
export async function mayAsk({ github, repository }: Asking, number: number, now: Date): Promise<boolean> {
  const since = hourBefore(now);
  const asked = { ...repository, issue_number: number, since, per_page: PAGE };
  const comments = await dataOf(github.rest.issues.listComments(asked));
  // Comments after these may be commands too.
  if (comments.length === PAGE) return false;
  // The list also has older comments that were edited in the last hour.
  const recent = comments.filter(
    ({ body = '', created_at: created }) => commandIn(body) && Date.parse(created) >= Date.parse(since),
  );
  return recent.length <= MOST;
}

/**
 * Whether a head was checked so seldom in the last hour that a command may start another check. Comments can be deleted or
 * edited once they have started one; statuses stay.
 */
export async function mayCheck({ github, repository }: Asking, head: string, now: Date): Promise<boolean> {
  const asked = { ...repository, ref: head, per_page: PAGE };
  const since = Date.parse(hourBefore(now));
  // The newest come first: other systems may have written pages of them within the hour.
  const statuses = await allPages(
    github.paginate(github.rest.repos.listCommitStatusesForRef, asked, ({ data }, done) => {
      if (data.some(({ created_at: created }) => Date.parse(created) < since)) done();
      return data;
    }),
  );
  const begun = statuses.filter(
    ({ context, state, created_at: created }) =>
      context === STATUS_CONTEXT && state === 'pending' && Date.parse(created) >= since,
  );
  return begun.length < MOST_CHECKS;
}

function hourBefore(now: Date): string {
  return new Date(now.getTime() - HOUR).toISOString().replace(/\.\d+Z$/, 'Z');
}
