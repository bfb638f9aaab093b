import { checkWebhookRules } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'webhook/rules',
  severity: 'error',
  summary: 'A webhook does not apply to all API groups, nor to those of OLM and webhooks',
  fix: 'set apiGroups to the groups of your own kinds',
  opm: ['webhook "W" contains forbidden rule: …', 'webhook rules cannot include the OLM group'],
  inspect: checkWebhookRules,
};
