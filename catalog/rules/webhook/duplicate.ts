import { checkWebhookNamesOnce } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'webhook/duplicate',
  severity: 'error',
  summary: 'No two webhooks have the same name',
  fix: 'give each webhook a different generateName',
  opm: ["duplicate webhook 'W' of type 'T'", 'CSV contains repeated WebhookDescription name'],
  inspect: checkWebhookNamesOnce,
};
