/** How often people may ask about a pull request: each command costs requests of an account that all of them share. */
import type { RepositoryName } from '../forge/forge.ts';
import { answer, type GitHub } from './client.ts';

/** Commands in an hour on one pull request. */
const MOST = 6;
const HOUR = 60 * 60 * 1000;

/** Commands in comments, as the gate reads them. */
const COMMAND = /^\/(?:recheck|who|explain)\b/;

/** Whether a command on a pull request is within the budget of its last hour; it is among those that are counted. */
export async function mayAsk(
  { github, repository }: { readonly github: GitHub; readonly repository: RepositoryName },
  number: number,
  now: Date,
): Promise<boolean> {
  const since = new Date(now.getTime() - HOUR).toISOString().replace(/\.\d+Z$/, 'Z');
  const asked = { ...repository, issue_number: number, since, per_page: 100 };
  const comments = await answer(github.rest.issues.listComments(asked));
  // Comments that were only edited in the last hour are listed, too.
  const recent = comments.filter(
    ({ body = '', created_at: created }) => COMMAND.test(body) && Date.parse(created) >= Date.parse(since),
  );
  return recent.length <= MOST;
}
