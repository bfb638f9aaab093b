import type { Rule } from '../rule.ts';

/** Found while a pull request is read: only there are both sides of a repository. */
export const rule: Rule = {
  id: 'operator/bundle-changed',
  severity: 'error',
  isOptional: true,
  summary: 'Reports a change of a bundle directory that the base branch has already',
  opm: ['The PR modifies existing bundles: BUNDLES'],
};
