import { checkDependencySupport } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'olmv1/dependency',
  severity: 'info',
  summary: 'OLM v1 installs no bundle with dependencies',
  fix: 'tell in the description what must be installed first',
  opm: ['bundle "B" has a dependency declared via property "T" which is currently not supported'],
  inspect: checkDependencySupport,
};
