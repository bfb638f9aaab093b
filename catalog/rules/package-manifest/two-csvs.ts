import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/two-csvs',
  severity: 'warning',
  summary: "A version's folder contains one ClusterServiceVersion",
  fix: 'create a folder for each version',
  opm: ['more than one ClusterServiceVersion is found in bundle', 'invalid bundle: contains multiple CSVs'],
};
