import { checkFeaturesPresent } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/features-missing',
  severity: 'info',
  summary: 'A ClusterServiceVersion declares each feature as true or false',
  opm: [`required annotation missing: features.operators.openshift.io/F`],
  inspect: checkFeaturesPresent,
};
