import { checkCrdFieldCase } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/field-case',
  severity: 'error',
  summary: 'The fields of a CRD are spelled as Kubernetes reads them',
  inspect: checkCrdFieldCase,
};
