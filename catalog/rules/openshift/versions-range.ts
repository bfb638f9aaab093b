import { checkVersionsRange } from '../bundle-checks/openshift.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'openshift/versions-range',
  severity: 'error',
  summary: 'The OpenShift versions of a bundle are a valid range that agrees with olm.maxOpenShiftVersion',
  opm: [
    'unable to parse the version: malformed range: R',
    'unable to parse the value (V) on (R): …',
    'the olm.maxOpenShiftVersion annotation with the value V to block the cluster upgrade is incompatible with the versions where this solutions should be distributed',
  ],
  inspect: checkVersionsRange,
};
