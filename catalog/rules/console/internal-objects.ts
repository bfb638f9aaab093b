import { checkInternalObjects } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/internal-objects',
  severity: 'warning',
  summary: 'Internal objects are CRDs that the ClusterServiceVersion owns',
  inspect: checkInternalObjects,
};
