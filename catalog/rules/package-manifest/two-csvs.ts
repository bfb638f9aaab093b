import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/two-csvs',
  severity: 'warning',
  summary: 'The folder of a version holds one ClusterServiceVersion',
  fix: 'give each version a folder of its own',
  opm: ['more than one ClusterServiceVersion is found in bundle', 'invalid bundle: contains multiple CSVs'],
};
