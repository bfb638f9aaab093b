import { checkConversionOnce } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'webhook/conversion-twice',
  severity: 'warning',
  summary: 'A definition is converted by one webhook',
  fix: 'name the definition in one webhook only',
  opm: ["conversion webhooks [V,W] reference same custom resource definition 'C'"],
  inspect: checkConversionOnce,
};
