import { checkMinKubeVersion } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/min-kube-version',
  severity: 'error',
  summary: 'The field minKubeVersion is a semantic version',
  fix: 'minKubeVersion: 1.28.0',
  opm: ['(N) csv.Spec.MinKubeVersion has an invalid value: V'],
  inspect: checkMinKubeVersion,
};
