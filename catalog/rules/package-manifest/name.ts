import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/name',
  severity: 'error',
  summary: 'A package file names its package',
  fix: 'packageName: etcd',
  opm: ['(p) packageName empty'],
};
