import {
  checkMaxVersion,
  checkMaxVersionForRemoved,
  checkScc,
  checkVersionsLabel,
  checkVersionsRange,
} from '../bundle-checks/openshift.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'openshift/max-version-needed',
    severity: 'error',
    summary:
      'Reports bundles with removed APIs that do not keep clusters on an OpenShift version that still has them',
    opm: [
      'csv.Annotations not specified olm.maxOpenShiftVersion for an OCP version < 4.9. …',
      'olm.maxOpenShiftVersion csv.Annotations not specified with an OCP version lower than 4.9. …',
    ],
    inspect: checkMaxVersionForRemoved,
  },
  {
    id: 'openshift/max-version',
    severity: 'error',
    summary: 'Reports values of olm.maxOpenShiftVersion that are not an OpenShift minor version',
    fix: '"value": "4.16"',
    opm: [
      'csv.Annotations.olm.properties has an invalid value. …',
      'csv.Annotations has an invalid value specified for olm.properties. …',
    ],
    inspect: checkMaxVersion,
  },
  {
    id: 'openshift/scc',
    severity: 'info',
    summary: 'Reports bundles that need OpenShift security context constraints',
    opm: ['securityConstraint: N'],
    inspect: checkScc,
  },
  {
    id: 'openshift/versions-label',
    severity: 'error',
    summary:
      'Reports bundles with APIs that OpenShift 4.9 removed that are not labelled for earlier versions',
    opm: [
      'invalid syntax (L) for (com.redhat.openshift.versions)',
      'unable to get the range informed on com.redhat.openshift.versions',
    ],
    inspect: checkVersionsLabel,
  },
  {
    id: 'openshift/versions-range',
    severity: 'error',
    summary:
      'Reports OpenShift versions of a bundle that are not a valid range, or disagree with olm.maxOpenShiftVersion',
    opm: [
      'unable to parse the version: malformed range: R',
      'unable to parse the value (V) on (R): …',
      'the olm.maxOpenShiftVersion annotation with the value V to block the cluster upgrade is incompatible with the versions where this solutions should be distributed',
    ],
    inspect: checkVersionsRange,
  },
];
