import { checkAnnotationCase } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/annotation-case',
  severity: 'error',
  summary: 'OLM annotations have the right upper and lower case',
  fix: 'correct the spelling of the annotation',
  opm: ['provided annotation A uses wrong case and should be B instead'],
  inspect: checkAnnotationCase,
};
