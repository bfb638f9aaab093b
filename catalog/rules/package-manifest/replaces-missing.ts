import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/replaces-missing',
  severity: 'error',
  summary: 'The ClusterServiceVersion in replaces exists in the package',
  fix: 'set replaces to a ClusterServiceVersion in the folder',
  opm: ['Invalid bundle b, replaces nonexistent bundle r'],
};
