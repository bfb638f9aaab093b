import { checkPreserveUnknown } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/preserve-unknown',
  severity: 'error',
  summary: 'A CRD does not preserve all unknown fields',
  opm: ['spec.preserveUnknownFields: cannot set to true, …'],
  inspect: checkPreserveUnknown,
};
