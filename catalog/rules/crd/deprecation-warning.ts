import { checkDeprecationWarning } from '../../bundle/check/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/deprecation-warning',
  severity: 'error',
  summary: 'Only deprecated versions have a warning, which can be shown',
  opm: ['spec.versions[i].deprecationWarning: …'],
  inspect: checkDeprecationWarning,
};
