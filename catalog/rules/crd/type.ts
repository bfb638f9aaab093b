import { checkCrdType } from '../../bundle/check/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/type',
  severity: 'error',
  summary: 'A custom resource definition fits its type',
  opm: ['unable to parse CRD F: …'],
  inspect: checkCrdType,
};
