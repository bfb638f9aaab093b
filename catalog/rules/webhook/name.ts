import { checkWebhookName } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'webhook/name',
  severity: 'warning',
  summary: 'A webhook has a DNS name',
  fix: 'generateName: vetcd.etcd.io',
  opm: ["webhook of type 'T' has invalid name 'W': …"],
  inspect: checkWebhookName,
};
