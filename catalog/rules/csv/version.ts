import { checkVersion } from '../bundle-checks/store.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/version',
  severity: 'error',
  summary: 'A ClusterServiceVersion has a semantic version',
  fix: 'version: 1.0.0',
  opm: ['(N) csv.Spec.Version must be set'],
  inspect: checkVersion,
};
