import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/current-unknown',
  severity: 'error',
  summary: 'The currentCSV of a channel exists',
  fix: 'set currentCSV to a ClusterServiceVersion in the folder',
  opm: ['failed to add channel "c" in package "p": FOREIGN KEY constraint failed'],
};
