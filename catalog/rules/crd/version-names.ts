import { checkVersionNames } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/version-names',
  severity: 'error',
  summary: 'Versions of a CRD have different names, which are DNS labels',
  fix: 'name: v1, each version once',
  opm: ['spec.versions: must contain unique version names', 'spec.versions[i].name: …'],
  inspect: checkVersionNames,
};
