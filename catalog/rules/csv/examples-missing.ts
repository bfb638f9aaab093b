import { checkExamplesPresent } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/examples-missing',
  severity: 'warning',
  summary: 'A ClusterServiceVersion has examples of its custom resources',
  opm: ['(N) example annotations not found'],
  inspect: checkExamplesPresent,
};
