import type { Rule } from '../rule.ts';

/** Found while a pull request is read: only there are both sides of a repository. */
export const rule: Rule = {
  id: 'operator/bundle-deleted',
  severity: 'error',
  isOptional: true,
  summary:
    'Reports a deleted bundle directory whose operator has no catalogs of its own, or whose bundle a catalog still has',
  opm: [
    'The PR deletes an existing operator: OPERATOR. This feature is only allowed for bundles with FBC enabled.',
    'The PR deletes a bundle (BUNDLE) that is in use by a catalog (CATALOG)',
  ],
};
