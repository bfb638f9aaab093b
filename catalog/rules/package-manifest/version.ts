import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/version',
  severity: 'error',
  summary: 'A ClusterServiceVersion that a channel reaches has a semantic version',
  fix: 'version: 1.0.0',
  opm: ['parse version "": Version string empty'],
};
