import { checkDisruptionRights } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'object/disruption-rights',
  severity: 'warning',
  summary: 'Roles do not change pod disruption budgets',
  fix: 'remove create, update and patch on poddisruptionbudgets from the role',
  opm: [
    'RBAC includes permission to create/update poddisruptionbudgets, which could impact cluster stability',
  ],
  inspect: checkDisruptionRights,
};
