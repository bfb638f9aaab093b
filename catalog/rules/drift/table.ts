import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  // Found while the files of a repository are compared: a catalog alone does not know who renders it.
  {
    id: 'drift/mapping',
    severity: 'warning',
    summary:
      'The catalogs in the template mapping of ci.yaml exist, and the mapping includes every catalog of the package',
  },
  // Found while the files of a repository are compared: a catalog alone does not know its template.
  {
    id: 'drift/template',
    severity: 'warning',
    summary: 'A catalog has the same channels, entries and bundles as its template',
  },
];
