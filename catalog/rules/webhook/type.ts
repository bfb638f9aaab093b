import { checkWebhookType } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'webhook/type',
  severity: 'error',
  summary: 'A webhook has a type that OLM knows',
  fix: 'type: ValidatingAdmissionWebhook',
  inspect: checkWebhookType,
};
