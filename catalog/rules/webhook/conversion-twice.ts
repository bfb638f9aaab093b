import { checkConversionOnce } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'webhook/conversion-twice',
  severity: 'warning',
  summary: 'A CRD has one conversion webhook',
  fix: 'list the CRD in one webhook only',
  opm: ["conversion webhooks [V,W] reference same custom resource definition 'C'"],
  inspect: checkConversionOnce,
};
