import {
  forgejoClient,
  forgejoForge,
  reportStatus,
  showsStatus,
} from '../../pipeline/forge/forgejo/forge.ts';
import { forgejoWebhooks } from '../../pipeline/forge/forgejo/webhook.ts';
import { repositoryName } from '../../pipeline/github/forge.ts';
import type { AccountForge } from './account.ts';

export const forgejo: AccountForge = {
  client: forgejoClient,
  forge: (client, repository) => forgejoForge(client, repositoryName(repository)),
  report: (client, status) => reportStatus(client, repositoryName(status.repository), status),
  shows: (client, status) => showsStatus(client, repositoryName(status.repository), status),
  webhooks: forgejoWebhooks,
};
