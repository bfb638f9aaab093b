import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/csv-unreadable',
  severity: 'error',
  summary: 'The fields of a ClusterServiceVersion in package manifests have the right types',
  fix: 'correct the field',
  opm: ['json: cannot unmarshal …'],
};
