import { checkConversion } from '../bundle-checks/crd-parts.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/conversion',
  severity: 'error',
  summary: 'A definition converts in a way that the API server can call',
  opm: ['spec.conversion.F: …'],
  inspect: checkConversion,
};
