import { checkWebhookSupport } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'olmv1/webhooks',
  severity: 'info',
  summary: 'OLM v1 can install the bundle: webhooks need OLM v1 1.4',
  fix: 'nothing to do for OpenShift 4.20 and later; remove the webhooks for earlier versions',
  opm: ['unsupported bundle: webhookDefinitions are not supported'],
  inspect: checkWebhookSupport,
};
