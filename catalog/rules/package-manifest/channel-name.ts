import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/channel-name',
  severity: 'error',
  summary: 'Every channel of a package file has a name',
  fix: '{name: stable, currentCSV: etcd.v1.0.0}',
  opm: ['(p) channel i name is empty'],
};
