import { checkWebhookRules } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'webhook/rules',
  severity: 'warning',
  summary: 'A webhook takes neither all API groups nor those of OLM and of webhooks',
  fix: 'apiGroups: the groups of your own kinds',
  opm: ['webhook "W" contains forbidden rule: …', 'webhook rules cannot include the OLM group'],
  inspect: checkWebhookRules,
};
