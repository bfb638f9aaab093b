import { checkExampleApis } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/example-api',
  severity: 'error',
  summary: 'Examples are of APIs that the ClusterServiceVersion owns',
  fix: 'take the example out, or own the API',
  opm: ['example must have a provided API'],
  inspect: checkExampleApis,
};
