import type { Rule } from '../rule.ts';

/** Found while the files of a repository are sorted: only its policy knows where catalogs are. */
export const rule: Rule = {
  id: 'layout/unmatched',
  severity: 'error',
  summary: "Reports catalog files outside of the folders that the policy's layout declares",
};
