import { checkLabels } from '../bundle-checks/update.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/labels',
  severity: 'warning',
  summary: 'The labels of the bundle image or its Dockerfile match the annotations',
  inspect: checkLabels,
};
