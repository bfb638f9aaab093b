import { checkOwnedGroup } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/owned-group',
  severity: 'error',
  severityInChecks: 'warning',
  summary: 'Owned CRDs do not have the field group',
  opm: ['owned CRD N/V not found in bundle "B"'],
  inspect: checkOwnedGroup,
};
