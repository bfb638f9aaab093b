import { checkCrdOnce } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/duplicate',
  severity: 'error',
  summary: 'A custom resource definition stands once in a bundle',
  fix: 'keep one of the definitions, with all versions',
  opm: ['duplicate CRD "K" in bundle "B"', "bundle contains duplicate custom resource definition 'C'"],
  inspect: checkCrdOnce,
};
