import { checkCrdType } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/type',
  severity: 'error',
  summary: 'The fields of a CRD have the right types',
  fix: 'correct the field; kubectl explain crd.spec shows all fields',
  opm: ['unable to parse CRD F: …'],
  inspect: checkCrdType,
};
