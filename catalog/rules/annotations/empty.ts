import { checkAnnotationsFilled } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/empty',
  severity: 'error',
  summary: 'The annotated channels are not empty',
  opm: ['Expecting annotation "K" to have non-empty value'],
  inspect: checkAnnotationsFilled,
};
