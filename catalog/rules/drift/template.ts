import type { Rule } from '../rule.ts';

/** Found while the files of a repository are compared: a catalog alone does not know its template. */
export const rule: Rule = {
  id: 'drift/template',
  severity: 'warning',
  summary: 'A catalog has the channels, the entries and the bundles of the template that it is rendered from',
};
