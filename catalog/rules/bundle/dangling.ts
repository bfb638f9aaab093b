import type { Rule } from '../rule.ts';

/** Found while a repository is read: only there are bundle directories beside catalogs. */
export const rule: Rule = {
  id: 'bundle/dangling',
  severity: 'info',
  summary: "Every bundle directory of a package that is in a catalog is in one of the repository's catalogs",
};
