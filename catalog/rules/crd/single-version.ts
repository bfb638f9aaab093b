import { checkSingleVersion } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/single-version',
  severity: 'error',
  summary: 'The single version of a v1beta1 CRD is the first of its versions',
  fix: 'remove spec.version: spec.versions contains it',
  opm: ['spec.version: must match the first version in spec.versions'],
  inspect: checkSingleVersion,
};
