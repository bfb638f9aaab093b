import { checkProvider } from '../bundle-checks/store.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/provider',
  severity: 'error',
  summary: 'A ClusterServiceVersion names its provider',
  opm: ['(N) csv.Spec.Provider.Name not specified'],
  inspect: checkProvider,
};
