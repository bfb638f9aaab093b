import { checkWebhookSupport } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'olmv1/webhooks',
  severity: 'info',
  summary: 'OLM v1 installs webhooks since 1.4',
  fix: 'nothing to do for OpenShift 4.20 and later; for earlier ones leave the webhooks out',
  opm: ['unsupported bundle: webhookDefinitions are not supported'],
  inspect: checkWebhookSupport,
};
