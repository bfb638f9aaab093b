import { checkCrdScope } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/scope',
  severity: 'error',
  summary: 'The scope of a CRD is Namespaced or Cluster',
  fix: 'scope: Namespaced',
  opm: ['spec.scope: …'],
  inspect: checkCrdScope,
};
