import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/channels-empty',
  severity: 'error',
  summary: 'A package file lists at least one channel',
  fix: 'channels: [{name: stable, currentCSV: etcd.v1.0.0}]',
  opm: ['(p) channels empty'],
};
