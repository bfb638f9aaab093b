import { checkRequiredFields } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/required-field',
  severity: 'error',
  summary: 'Required fields of a ClusterServiceVersion are there',
  fix: 'add the field that the message names',
  opm: ['required field missing'],
  inspect: checkRequiredFields,
};
