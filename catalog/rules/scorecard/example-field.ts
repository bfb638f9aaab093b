import { checkExampleFields } from '../bundle-checks/scorecard.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'scorecard/example-field',
  severity: 'error',
  summary: 'Examples have only fields of the schema',
  fix: 'remove the field from the example, or add it to the schema',
  opm: ['Add CRD validation for spec field `F` in K/V'],
  inspect: checkExampleFields,
};
