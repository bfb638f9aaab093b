import { checkFeatures } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/feature',
  severity: 'warning',
  summary: 'Feature annotations are known to consoles, and are true or false',
  inspect: checkFeatures,
};
