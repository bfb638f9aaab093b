import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/replaces-missing',
  severity: 'error',
  summary: 'What a ClusterServiceVersion replaces exists in its package',
  opm: ['Invalid bundle b, replaces nonexistent bundle r'],
};
