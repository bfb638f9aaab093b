import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package/update-graph',
  severity: 'error',
  summary:
    'A package that is made from bundle directories has a graph that its bundles and its `ci.yaml` describe',
};
