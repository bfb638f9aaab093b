/** How the forge of a host signs and writes webhooks. */
import { forgejoWebhooks } from '../pipeline/forge/forgejo/webhook.ts';
import { gitLabWebhooks } from '../pipeline/forge/gitlab/webhook.ts';
import type { Webhooks } from '../pipeline/forge/webhook.ts';
import { gitHubWebhooks } from '../pipeline/github/webhook.ts';
import type { HostSettings } from './settings.ts';

export const WEBHOOKS: Readonly<Record<HostSettings['forge'], Webhooks>> = {
  github: gitHubWebhooks,
  forgejo: forgejoWebhooks,
  gitlab: gitLabWebhooks,
};
