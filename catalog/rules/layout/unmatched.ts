import type { Rule } from '../rule.ts';

/** Found while the files of a repository are sorted: only its policy knows where catalogs are. */
export const rule: Rule = {
  id: 'layout/unmatched',
  severity: 'error',
  summary: 'Every file that holds blobs of a catalog is where the layout of the policy has catalogs',
};
