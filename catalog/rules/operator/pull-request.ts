import type { Rule } from '../rule.ts';

/** Found while a pull request is read: only there are both sides of a repository. */
export const rule: Rule = {
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
