import { checkNames } from '../../bundle/check/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/names',
  severity: 'error',
  summary: 'Plural, singular, kind and list kind of a definition are sound',
  opm: ['spec.names.F: …'],
  inspect: checkNames,
};
