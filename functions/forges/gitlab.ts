import {
  gitLabClient,
  gitLabForge,
  projectName,
  reportGitLabStatus,
  showsGitLabStatus,
} from '../../pipeline/forge/gitlab/forge.ts';
import { gitLabWebhooks } from '../../pipeline/forge/gitlab/webhook.ts';
import type { AccountForge } from './account.ts';

export const gitlab: AccountForge = {
  client: gitLabClient,
  forge: (client, repository) => gitLabForge(client, projectName(repository)),
  report: reportGitLabStatus,
  shows: showsGitLabStatus,
  webhooks: gitLabWebhooks,
};
