import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/csv-duplicate',
  severity: 'error',
  summary: 'A ClusterServiceVersion stands once in its package',
  opm: ['UNIQUE constraint failed: operatorbundle.name'],
};
