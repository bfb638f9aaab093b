import { checkCrdDescriptions } from '../../bundle/check/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'practice/crd-description',
  severity: 'warning',
  summary: 'Owned and required definitions are described',
  opm: ['owned CRD "N" has an empty description'],
  inspect: checkCrdDescriptions,
};
