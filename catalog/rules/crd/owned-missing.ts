import { checkOwnedPresent } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/owned-missing',
  severity: 'error',
  summary: 'The bundle contains every CRD that it owns',
  opm: [
    'owned CRD "K" not found in bundle "B"',
    "cluster service definition references owned custom resource definition 'C' not found in bundle",
  ],
  inspect: checkOwnedPresent,
};
