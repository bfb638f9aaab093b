import { checkVersion } from '../../bundle/check/store.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/version',
  severity: 'error',
  summary: 'A ClusterServiceVersion has a semantic version',
  opm: ['(N) csv.Spec.Version must be set'],
  inspect: checkVersion,
};
