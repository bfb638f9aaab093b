import { checkTypeMeta } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/type-meta',
  severity: 'error',
  summary: 'A ClusterServiceVersion has the apiVersion operators.coreos.com/v1alpha1',
  opm: ["(N) 'apiVersion' is missing", "(N) 'kind' is missing"],
  inspect: checkTypeMeta,
};
