import { checkRequiredFields } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/required-field',
  severity: 'error',
  summary: 'A ClusterServiceVersion has all required fields',
  fix: 'add the field',
  opm: ['required field missing'],
  inspect: checkRequiredFields,
};
