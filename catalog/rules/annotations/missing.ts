import { checkAnnotationsPresent } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/missing',
  severity: 'error',
  summary: 'A file of metadata/ holds the annotations of the bundle',
  opm: ['Could not find annotations file'],
  inspect: checkAnnotationsPresent,
};
