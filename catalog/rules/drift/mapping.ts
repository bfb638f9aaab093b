import type { Rule } from '../rule.ts';

/** Found while the files of a repository are compared: a catalog alone does not know who renders it. */
export const rule: Rule = {
  id: 'drift/mapping',
  severity: 'warning',
  summary:
    'The catalogs in the template mapping of ci.yaml exist, and the mapping includes every catalog of the package',
};
