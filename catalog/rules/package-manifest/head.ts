import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/head',
  severity: 'error',
  summary: 'Each channel of a package has a head',
  fix: 'remove the currentCSV from the skips of its own channel',
  opm: ['no channel head found in graph'],
};
