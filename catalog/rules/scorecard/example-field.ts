import { checkExampleFields } from '../bundle-checks/scorecard.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'scorecard/example-field',
  severity: 'info',
  summary: 'Examples have only fields that the schema knows',
  fix: 'take the field out of the example, or into the schema',
  opm: ['Add CRD validation for spec field `F` in K/V'],
  inspect: checkExampleFields,
};
