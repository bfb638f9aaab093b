import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/cycle',
  severity: 'error',
  summary: 'Replacements in a package run in no circle',
  opm: ['Cycle detected, a replaces b'],
};
