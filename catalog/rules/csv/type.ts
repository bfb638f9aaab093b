import { checkCsvType } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/type',
  severity: 'error',
  summary: 'The fields of a ClusterServiceVersion have the right types',
  fix: 'correct the field',
  opm: ['unable to parse CSV F: error unmarshaling JSON: …'],
  inspect: checkCsvType,
};
