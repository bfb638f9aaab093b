import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package/update-graph',
  severity: 'error',
  summary: 'Reports packages that are built from bundle directories to an invalid upgrade graph',
};
