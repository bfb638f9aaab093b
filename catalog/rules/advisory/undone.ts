import type { Rule } from '../rule.ts';

/** Found while a pull request is checked: advisories are files of its repository. */
export const rule: Rule = {
  id: 'advisory/undone',
  severity: 'error',
  summary: 'Reports changes that undo an advisory that was applied to the catalog',
};
