import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/owned-missing',
  severity: 'error',
  summary: 'A definition that a ClusterServiceVersion owns lies beside it',
  fix: 'put the definition beside the ClusterServiceVersion',
  opm: ["error checking provided apis in bundle b: couldn't find … in bundle"],
};
