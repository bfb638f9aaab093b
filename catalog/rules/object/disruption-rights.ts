import { checkDisruptionRights } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'object/disruption-rights',
  severity: 'warning',
  summary: 'Roles do not change pod disruption budgets',
  fix: 'leave create, update and patch of poddisruptionbudgets out of the role',
  opm: [
    'RBAC includes permission to create/update poddisruptionbudgets, which could impact cluster stability',
  ],
  inspect: checkDisruptionRights,
};
