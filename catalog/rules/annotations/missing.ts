import { checkAnnotationsPresent } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/missing',
  severity: 'error',
  summary: "A file in metadata/ contains the bundle's annotations",
  opm: ['Could not find annotations file'],
  inspect: checkAnnotationsPresent,
};
