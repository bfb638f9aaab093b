import { checkDependencySupport } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'olmv1/dependency',
  severity: 'info',
  summary: 'OLM v1 can install the bundle: it has no dependencies',
  fix: 'explain in the description what users must install first',
  opm: ['bundle "B" has a dependency declared via property "T" which is currently not supported'],
  inspect: checkDependencySupport,
};
