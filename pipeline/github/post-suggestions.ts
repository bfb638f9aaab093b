/**
 * Suggestions on GitHub: one review whose comments can be taken with a click. What was offered once is not
 * offered again, whatever became of it.
 */
import { createHash } from 'node:crypto';
import type { CheckReport } from '../check/report.ts';
import type { Suggestion } from '../check/suggestions.ts';
import type { RepositoryName } from '../forge/forge.ts';
import { codeSpan, escapedMarkdown } from '../report/markdown.ts';
import { ownAccount } from './account.ts';
import { allPages, dataOf, type GitHub } from './client.ts';

/** Begins comments that suggest something; only those of our own account count. */
const SUGGESTION_MARK = '<!-- portolan:suggestion ';

/**
 * Offers the suggestions of a report that were not offered before.
 *
 * @returns how many were offered
 * @throws PipelineError as the client, `usage` where a line is not part of what GitHub shows as the difference
 */
export async function postSuggestions(
  { github, repository }: { readonly github: GitHub; readonly repository: RepositoryName },
  { number, report }: { readonly number: number; readonly report: CheckReport },
): Promise<number> {
  const { suggestions = [], head } = report;
  if (suggestions.length === 0) return 0;
  const marks = await marksOn(github, repository, number);
  const fresh = suggestions.filter((one) => !marks.has(markOf(one)));
  if (fresh.length === 0) return 0;
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
  return fresh.length;
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
