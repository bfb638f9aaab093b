import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/version-duplicate',
  severity: 'error',
  summary: 'No two ClusterServiceVersions of a package have the same version',
  fix: 'give each ClusterServiceVersion its own spec.version',
  opm: ['duplicate versions found in bundles: [{1.0.0: [a, b]}]'],
};
