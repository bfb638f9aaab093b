import { checkVersionsLabel } from '../bundle-checks/openshift.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'openshift/versions-label',
  severity: 'error',
  summary: 'A bundle with APIs that OpenShift 4.9 removed is labelled for earlier versions',
  opm: [
    'invalid syntax (L) for (com.redhat.openshift.versions)',
    'unable to get the range informed on com.redhat.openshift.versions',
  ],
  inspect: checkVersionsLabel,
};
