import { checkNaming } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'practice/csv-name',
  severity: 'warning',
  summary: 'A ClusterServiceVersion is named <operator>.v<version>',
  opm: [
    'csv.metadata.Name N is not following the versioning convention …',
    'csv.metadata.Name N is not following the recommended naming convention: …',
  ],
  inspect: checkNaming,
};
