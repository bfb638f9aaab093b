import { checkSubscriptions } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/subscription',
  severity: 'warning',
  summary: 'Valid subscriptions are a JSON list of strings',
  inspect: checkSubscriptions,
};
