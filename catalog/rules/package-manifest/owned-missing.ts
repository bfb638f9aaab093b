import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/owned-missing',
  severity: 'error',
  summary: 'The CRDs that a ClusterServiceVersion owns are in the same folder',
  fix: "add the CRD to the ClusterServiceVersion's folder",
  opm: ["error checking provided apis in bundle b: couldn't find … in bundle"],
};
