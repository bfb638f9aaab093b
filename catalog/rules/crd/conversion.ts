import { checkConversion } from '../bundle-checks/crd-parts.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/conversion',
  severity: 'error',
  summary: "A CRD's conversion is valid, and the API server can call its webhook",
  opm: ['spec.conversion.F: …'],
  inspect: checkConversion,
};
