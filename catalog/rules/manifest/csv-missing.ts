import { checkCsvPresent } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/csv-missing',
  severity: 'error',
  summary: 'A bundle contains a ClusterServiceVersion as the first document of a file',
  opm: ['unable to find a csv in bundle directory DIR', 'no ClusterServiceVersion in bundle'],
  inspect: checkCsvPresent,
};
