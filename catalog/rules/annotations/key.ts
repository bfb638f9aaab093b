import { checkAnnotationKeys } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/key',
  severity: 'error',
  summary: 'The annotations declare media type, folders, package and channels',
  opm: ['Missing annotation "K"'],
  inspect: checkAnnotationKeys,
};
