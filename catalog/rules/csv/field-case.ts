import { checkFieldCase } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/field-case',
  severity: 'error',
  summary: 'Field names have the right upper and lower case',
  opm: ['required field missing'],
  inspect: checkFieldCase,
};
