import { checkMinKubeVersionPresent } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/min-kube-version-missing',
  severity: 'warning',
  summary: 'A ClusterServiceVersion declares a minimum Kubernetes version',
  opm: ['(N) csv.Spec.minKubeVersion is not informed. …'],
  inspect: checkMinKubeVersionPresent,
};
