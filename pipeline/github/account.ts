/** Whose account requests are made by. */
import { answerIfAny, type GitHub } from './client.ts';

/** The account of jobs that use their own token: github-actions[bot]. */
const ACTIONS_BOT = 41_898_282;

/** Number of the account that requests are made by. */
export async function ownAccount(github: GitHub): Promise<number> {
  const app = await answerIfAny(github.rest.apps.getAuthenticated());
  const bot = app && (await answerIfAny(github.rest.users.getByUsername({ username: `${app.slug}[bot]` })));
  if (bot) return Number(bot.id);
  const user = await answerIfAny(github.rest.users.getAuthenticated());
  return user ? Number(user.id) : ACTIONS_BOT;
}
