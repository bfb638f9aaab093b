/** Rules whose findings come while a pull request is read: only there are both sides of a repository. */
import type { Rule } from '../rule.ts';

export const bundleChanged: Rule = {
  id: 'operator/bundle-changed',
  severity: 'error',
  isOptional: true,
  summary: 'Reports a change of a bundle directory that the base branch has already',
  opm: ['The PR modifies existing bundles: BUNDLES'],
};

export const bundleDeleted: Rule = {
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

export const pullRequest: Rule = {
  id: 'operator/pull-request',
  severity: 'error',
  isOptional: true,
  summary: 'Reports a pull request whose parts operator-pipelines accepts only in pull requests of their own',
  opm: [
    'The PR affects more than one operator: OPERATORS',
    'The PR affects more than one bundle: BUNDLES',
    'The PR adds and deletes bundles at the same time. This is not allowed. Please split the changes into 2 separate pull requests.',
    'The PR affects a bundle (BUNDLES) and catalog (CATALOGS) at the same time. Split operator and catalog changes into 2 separate pull requests.',
    'The PR affects non-operator files: FILES',
  ],
};

export const rules: readonly Rule[] = [bundleChanged, bundleDeleted, pullRequest];
