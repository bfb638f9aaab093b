import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/current-empty',
  severity: 'error',
  summary: 'Every channel of a package file names its head with currentCSV',
  fix: 'currentCSV: etcd.v1.0.0',
  opm: ['(p) channel "c" currentCSV is empty'],
};
