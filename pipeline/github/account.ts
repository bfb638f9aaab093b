/** The account that makes requests. */
import { answerIfAny, type GitHub } from './client.ts';
import { sendQuery } from './graphql.ts';

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
