import { checkResourceRequests } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'practice/resource-requests',
  severity: 'warning',
  summary: 'Containers request CPU and memory',
  opm: ['unable to find the resource requests for the container: (C). …'],
  inspect: checkResourceRequests,
};
