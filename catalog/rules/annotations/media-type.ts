import { checkMediaType } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/media-type',
  severity: 'error',
  summary: 'The annotated media type matches the manifests',
  opm: ['Expecting annotation "K" to have value "V" instead of "W"'],
  inspect: checkMediaType,
};
