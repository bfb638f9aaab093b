import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/cycle',
  severity: 'error',
  summary: 'The replaces of a package form no cycle',
  fix: 'set replaces to the previous version, each version once',
  opm: ['Cycle detected, a replaces b'],
};
