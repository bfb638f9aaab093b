import type { Rule } from '../rule.ts';

/** Found while the files of a repository are compared: a catalog alone does not know who renders it. */
export const rule: Rule = {
  id: 'drift/mapping',
  severity: 'warning',
  summary: 'Catalogs that ci.yaml maps a template to exist, and every catalog of a mapped package is mapped',
};
