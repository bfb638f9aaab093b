import { checkPriorityClasses } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'object/priority-class',
  severity: 'error',
  summary: 'A priority class is not the default of the cluster',
  fix: 'globalDefault: false',
  opm: ['globalDefault field cannot be set to true'],
  inspect: checkPriorityClasses,
};
