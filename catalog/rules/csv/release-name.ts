import { checkReleaseName } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/release-name',
  severity: 'error',
  summary: 'A ClusterServiceVersion with a release is named <package>-v<version>-<release>',
  fix: 'name it PACKAGE-vVERSION-RELEASE, or remove spec.release',
  opm: ['bundle name with release versioning "N" does not match expected name "M"'],
  inspect: checkReleaseName,
};
