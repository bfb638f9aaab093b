import { checkExamplesOnce } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/examples-twice',
  severity: 'warning',
  summary: 'Examples are in one annotation only',
  fix: 'keep alm-examples',
  opm: ['(N) both `alm-examples` and `olm.examples` are present. Checking only `alm-examples`'],
  inspect: checkExamplesOnce,
};
