import { checkCrdScope } from '../../bundle/check/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/scope',
  severity: 'error',
  summary: 'The scope of a definition is Namespaced or Cluster',
  opm: ['spec.scope: …'],
  inspect: checkCrdScope,
};
