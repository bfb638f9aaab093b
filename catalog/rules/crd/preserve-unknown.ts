import { checkPreserveUnknown } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/preserve-unknown',
  severity: 'error',
  summary: 'A definition does not preserve unknown fields as a whole',
  opm: ['spec.preserveUnknownFields: cannot set to true, …'],
  inspect: checkPreserveUnknown,
};
