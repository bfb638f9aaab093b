import { checkCrdDescriptions } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'practice/crd-description',
  severity: 'warning',
  summary: 'Owned and required CRDs have a description',
  fix: 'description: <what an object of this kind is>',
  opm: ['owned CRD "N" has an empty description'],
  inspect: checkCrdDescriptions,
};
