import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  // Found while the files of a repository are compared: a catalog alone does not know who renders it.
  {
    id: 'drift/mapping',
    severity: 'warning',
    summary:
      'Reports templates and catalogs in the template mapping of ci.yaml that do not exist, and catalogs of the package that it lacks',
  },
  // Found while the files of a repository are compared: a catalog alone does not know its template.
  {
    id: 'drift/template',
    severity: 'warning',
    summary:
      'Reports catalogs whose channels, entries or bundles differ from their template, or from the one that they had',
  },
];
