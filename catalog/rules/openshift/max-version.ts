import { checkMaxVersion } from '../bundle-checks/openshift.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'openshift/max-version',
  severity: 'error',
  summary: 'The property olm.maxOpenShiftVersion is an OpenShift minor version',
  fix: '"value": "4.16"',
  opm: [
    'csv.Annotations.olm.properties has an invalid value. …',
    'csv.Annotations has an invalid value specified for olm.properties. …',
  ],
  inspect: checkMaxVersion,
};
