import { checkCrdUnquoted } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/unquoted',
  severity: 'error',
  summary: 'Text of a CRD is written as text, not as a number or a boolean',
  opm: ['error decoding v1 CRD: json: cannot unmarshal number into Go struct field … of type string'],
  inspect: checkCrdUnquoted,
};
