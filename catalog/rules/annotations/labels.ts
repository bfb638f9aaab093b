import { checkLabels } from '../bundle-checks/update.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/labels',
  severity: 'warning',
  summary: 'The labels of the bundle image, or of its Dockerfile, are those of the annotations',
  inspect: checkLabels,
};
