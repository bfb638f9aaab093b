import { checkDeprecationWarning } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/deprecation-warning',
  severity: 'error',
  summary: 'Only deprecated versions have a warning, which can be shown',
  fix: 'deprecated: true beside a warning of at most 256 bytes, or no deprecationWarning',
  opm: ['spec.versions[i].deprecationWarning: …'],
  inspect: checkDeprecationWarning,
};
