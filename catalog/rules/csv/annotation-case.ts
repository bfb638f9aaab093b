import { checkAnnotationCase } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/annotation-case',
  severity: 'error',
  summary: 'The annotations of OLM are spelled as OLM reads them',
  fix: 'spell the annotation as the message says',
  opm: ['provided annotation A uses wrong case and should be B instead'],
  inspect: checkAnnotationCase,
};
