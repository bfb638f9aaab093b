import { checkFieldCase } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/field-case',
  severity: 'error',
  summary: 'Fields are spelled as Kubernetes spells them',
  opm: ['required field missing'],
  inspect: checkFieldCase,
};
