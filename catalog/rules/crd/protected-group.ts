import { checkProtectedGroup } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/protected-group',
  severity: 'error',
  summary: 'A CRD in an API group of Kubernetes links to its approval',
  opm: ['metadata.annotations[api-approved.kubernetes.io]: protected groups must have approval annotation …'],
  inspect: checkProtectedGroup,
};
