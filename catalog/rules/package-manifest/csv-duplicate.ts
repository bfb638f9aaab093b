import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/csv-duplicate',
  severity: 'error',
  summary: 'A package contains each ClusterServiceVersion once',
  fix: 'keep one of the two, or give the second its own name and version',
  opm: ['UNIQUE constraint failed: operatorbundle.name'],
};
