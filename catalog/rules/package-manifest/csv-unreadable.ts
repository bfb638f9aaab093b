import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/csv-unreadable',
  severity: 'error',
  summary: 'A ClusterServiceVersion in a folder of package manifests fits its type',
  fix: 'write the field as the message says',
  opm: ['json: cannot unmarshal …'],
};
