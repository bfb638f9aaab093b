import { checkInfrastructure } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/infrastructure',
  severity: 'warning',
  summary: 'Infrastructure features are a JSON list of features that consoles know',
  inspect: checkInfrastructure,
};
