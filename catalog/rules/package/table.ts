import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'package/update-graph',
    severity: 'error',
    summary: 'The upgrade graph of a package that is built from bundle directories is valid',
  },
];
