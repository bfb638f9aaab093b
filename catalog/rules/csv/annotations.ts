import { checkCsvAnnotations } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/annotations',
  severity: 'warning',
  summary: 'A ClusterServiceVersion has annotations',
  fix: 'add annotations, for example alm-examples, capabilities and categories',
  opm: ['(N) annotations not found'],
  inspect: checkCsvAnnotations,
};
