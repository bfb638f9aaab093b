import { checkScc } from '../bundle-checks/openshift.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'openshift/scc',
  severity: 'info',
  summary: 'Reviewers are told when a bundle needs OpenShift security context constraints',
  opm: ['securityConstraint: N'],
  inspect: checkScc,
};
