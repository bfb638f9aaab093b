import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/version',
  severity: 'error',
  summary: 'Every ClusterServiceVersion of a channel has a semantic version',
  fix: 'version: 1.0.0',
  opm: ['parse version "": Version string empty'],
};
