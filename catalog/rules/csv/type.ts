import { checkCsvType } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/type',
  severity: 'error',
  summary: 'A ClusterServiceVersion fits its type',
  fix: 'write the field as the message says',
  opm: ['unable to parse CSV F: error unmarshaling JSON: …'],
  inspect: checkCsvType,
};
