/** The forges beside GitHub. Each is an extra: its line here, its file beside it and its folder in pipeline/forge are all of it. */
import type { Webhooks } from '../../pipeline/forge/webhook.ts';
import { gitHubWebhooks } from '../../pipeline/github/webhook.ts';
import type { AccountForge } from './account.ts';
import { forgejo } from './forgejo.ts';
import { gitlab } from './gitlab.ts';

/** By what `PORTOLAN_FORGE` calls them. */
export const ACCOUNT_FORGES: ReadonlyMap<string, AccountForge> = new Map(
  Object.entries({
    forgejo,
    gitlab,
  }),
);

/** How the forge of a host signs and writes webhooks. */
export function webhooksOf(forge: string): Webhooks {
  return ACCOUNT_FORGES.get(forge)?.webhooks ?? gitHubWebhooks;
}
