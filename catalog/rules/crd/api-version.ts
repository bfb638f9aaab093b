import { checkCrdApiVersion } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/api-version',
  severity: 'error',
  summary: 'A CRD uses the API group apiextensions.k8s.io',
  opm: ['unsupported CRD version V for F', 'Unsupported api version of CRD: V'],
  inspect: checkCrdApiVersion,
};
