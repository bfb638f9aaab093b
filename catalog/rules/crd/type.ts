import { checkCrdType } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/type',
  severity: 'error',
  summary: 'A custom resource definition fits its type',
  fix: 'write the field as the message says; kubectl explain crd.spec shows all fields',
  opm: ['unable to parse CRD F: …'],
  inspect: checkCrdType,
};
