/** Reviews on the fake GitHub: comments on lines that the difference shows, and who was asked for one. */
import type { TestRepository } from '../repository.ts';
import type { FakeForge } from './forge.ts';
import type { Routes } from './server.ts';

export interface FakeReviewComment {
  readonly number: number;
  readonly by: string;
  readonly path: string;
  readonly line: number;
  readonly body: string;
  readonly commit: string;
}

export function reviewRoutes(
  forge: FakeForge,
  repository: TestRepository,
  account: (login: string) => unknown,
): Routes {
  return {
    'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews': ({ path, body }) => {
      const pull = forge.pulls.get(Number(path['pull_number']));
      if (!pull || body.commit_id !== pull.head) return { status: 422, data: { message: 'No such commit' } };
      const shown = (file: string, line: number): boolean =>
        shownLines(repository.git('diff', `${pull.base}...${pull.head}`, '--', file))(line);
      const comments = body.comments as { path: string; line: number; body: string }[];
      if (comments.some((one) => !shown(one.path, one.line)))
        return { status: 422, data: { message: 'Line could not be resolved' } };
      forge.reviewPosts.push(comments.length);
      for (const { path: file, line, body: text } of comments)
        forge.reviewComments.push({
          number: pull.number,
          by: forge.writer,
          path: file,
          line,
          body: text,
          commit: pull.head,
        });
      return { status: 200, data: { id: forge.reviewPosts.length, body: body.body, state: 'COMMENTED' } };
    },
    'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments': ({ path }) => ({
      data: forge.reviewComments
        .filter(({ number }) => number === Number(path['pull_number']))
        .map(({ by, body, path: file }, i) => ({ id: i + 1, user: account(by), body, path: file })),
    }),
    'GET /repos/{owner}/{repo}/issues/{issue_number}/events': ({ path }) => ({
      data: forge.requests
        .filter(({ number }) => number === Number(path['issue_number']))
        .map(({ login }, i) => ({
          id: i + 1,
          event: 'review_requested',
          requested_reviewer: account(login),
          review_requester: account(forge.writer),
        })),
    }),
    'POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers': ({ path, body }) => {
      const number = Number(path['pull_number']);
      const logins = body.reviewers as string[];
      if (logins.some((login) => forge.outsiders.has(login) || login === forge.pulls.get(number)?.author)) {
        const message = 'Reviews may only be requested from collaborators.';
        return { status: 422, data: { message } };
      }
      forge.requests.push(...logins.map((login) => ({ number, login })));
      return { status: 201, data: { number } };
    },
  };
}

/** Tells which lines of the new file a difference shows, those around a change included. */
function shownLines(diff: string): (line: number) => boolean {
  const hunks = [...diff.matchAll(/^@@ -\S+ \+(\d+)(?:,(\d+))? @@/gm)];
  return (line) =>
    hunks.some(([, from = '', count = '1']) => line >= Number(from) && line < Number(from) + Number(count));
}
