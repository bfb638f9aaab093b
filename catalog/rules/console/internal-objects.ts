import { checkInternalObjects } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/internal-objects',
  severity: 'warning',
  summary: 'Hidden definitions are owned ones',
  inspect: checkInternalObjects,
};
