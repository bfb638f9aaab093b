import { checkExampleApis } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/example-api',
  severity: 'error',
  summary: 'Examples use APIs that the ClusterServiceVersion owns',
  fix: 'remove the example, or add the API to the owned CRDs',
  opm: ['example must have a provided API'],
  inspect: checkExampleApis,
};
