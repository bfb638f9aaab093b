import { checkFeatures } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/feature',
  severity: 'warning',
  summary: 'Features are those that consoles know, each true or false',
  inspect: checkFeatures,
};
