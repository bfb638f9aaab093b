import { checkVersionParts } from '../bundle-checks/crd-parts.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/version-parts',
  severity: 'error',
  summary: 'A v1beta1 CRD sets what all versions share once, at the top level',
  fix: 'migrate to apiextensions.k8s.io/v1, where each version has its own fields',
  opm: [
    'spec.validation: top-level and per-version schemas are mutually exclusive',
    'spec.versions: per-version schemas may not all be set to identical values …',
  ],
  inspect: checkVersionParts,
};
