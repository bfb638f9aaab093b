import type { Rule } from '../rule.ts';

/** Found while a pull request is checked: advisories are files of its repository. */
export const rule: Rule = {
  id: 'advisory/undone',
  severity: 'error',
  summary: 'A catalog keeps to the advisories that were applied to it',
};
