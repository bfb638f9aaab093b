import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/csv-duplicate',
  severity: 'error',
  summary: 'A ClusterServiceVersion stands once in its package',
  fix: 'keep one of both, or give the second its own name and version',
  opm: ['UNIQUE constraint failed: operatorbundle.name'],
};
