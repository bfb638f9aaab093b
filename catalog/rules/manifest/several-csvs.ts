import { checkSingleCsv } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/several-csvs',
  severity: 'error',
  summary: 'A bundle contains one ClusterServiceVersion',
  opm: ['invalid bundle: contains multiple CSVs'],
  inspect: checkSingleCsv,
};
