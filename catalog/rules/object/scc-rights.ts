import { checkSccRights } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'object/scc-rights',
  severity: 'error',
  summary: 'Roles do not change the default security context constraints',
  fix: 'create your own security context constraints instead of changing the default ones',
  opm: [
    'RBAC includes permission to modify default securitycontextconstraints, which could impact cluster stability',
  ],
  inspect: checkSccRights,
};
