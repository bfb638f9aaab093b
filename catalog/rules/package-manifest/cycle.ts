import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/cycle',
  severity: 'error',
  summary: 'Replacements in a package run in no circle',
  fix: 'replaces: the version before, each version once',
  opm: ['Cycle detected, a replaces b'],
};
