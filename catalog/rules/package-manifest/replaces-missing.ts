import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/replaces-missing',
  severity: 'error',
  summary: 'What a ClusterServiceVersion replaces exists in its package',
  fix: 'replaces: the name of a ClusterServiceVersion in the folder',
  opm: ['Invalid bundle b, replaces nonexistent bundle r'],
};
