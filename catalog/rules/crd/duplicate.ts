import { checkCrdOnce } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/duplicate',
  severity: 'error',
  summary: 'A bundle contains each CRD once',
  fix: 'keep one CRD with all versions',
  opm: ['duplicate CRD "K" in bundle "B"', "bundle contains duplicate custom resource definition 'C'"],
  inspect: checkCrdOnce,
};
