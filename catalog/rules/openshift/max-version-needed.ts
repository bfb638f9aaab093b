import { checkMaxVersionForRemoved } from '../bundle-checks/openshift.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'openshift/max-version-needed',
  severity: 'error',
  summary: 'A bundle with removed APIs keeps clusters on an OpenShift version that still has them',
  opm: [
    'csv.Annotations not specified olm.maxOpenShiftVersion for an OCP version < 4.9. …',
    'olm.maxOpenShiftVersion csv.Annotations not specified with an OCP version lower than 4.9. …',
  ],
  inspect: checkMaxVersionForRemoved,
};
