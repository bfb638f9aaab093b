import type { Rule } from '../rule.ts';

/** Found while a repository is read: only there are bundle directories beside catalogs. */
export const rule: Rule = {
  id: 'bundle/dangling',
  severity: 'info',
  summary:
    "Reports bundle directories that none of the repository's catalogs contains, although their package is in one",
};
