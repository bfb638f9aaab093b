import type { Rule } from '../rule.ts';

/** Found while the files of a repository are compared: a catalog alone does not know its template. */
export const rule: Rule = {
  id: 'drift/template',
  severity: 'warning',
  summary: 'A catalog has the same channels, entries and bundles as its template',
};
