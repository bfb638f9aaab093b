import { checkDeprecationWarning } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/deprecation-warning',
  severity: 'error',
  summary: 'Only deprecated versions of a CRD have a deprecation warning, and it is printable',
  fix: 'set deprecated: true and a warning of at most 256 bytes, or remove deprecationWarning',
  opm: ['spec.versions[i].deprecationWarning: …'],
  inspect: checkDeprecationWarning,
};
