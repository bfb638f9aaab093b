import { checkScc } from '../bundle-checks/openshift.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'openshift/scc',
  severity: 'info',
  summary: 'A bundle that asks for security context constraints of OpenShift is known',
  opm: ['securityConstraint: N'],
  inspect: checkScc,
};
