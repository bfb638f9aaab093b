import { checkAnnotationTypes } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/text',
  severity: 'error',
  summary: 'The value of every annotation is text, not a list or a mapping',
  opm: ['Could not find annotations file'],
  inspect: checkAnnotationTypes,
};
