import { checkIconPresent } from '../bundle-checks/store.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/icon-missing',
  severity: 'warning',
  summary: 'A ClusterServiceVersion has an icon',
  opm: ['(N) csv.Spec.Icon not specified'],
  inspect: checkIconPresent,
};
