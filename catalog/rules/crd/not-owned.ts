import { checkNotOwned } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/not-owned',
  severity: 'error',
  summary: 'The ClusterServiceVersion owns every CRD of the bundle',
  opm: ['CRD "K" is present in bundle "B" but not defined in CSV'],
  inspect: checkNotOwned,
};
