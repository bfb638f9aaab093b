import {
  checkDisruptionBudgets,
  checkDisruptionRights,
  checkObjectTypes,
  checkPriorityClasses,
  checkSccRights,
} from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'object/disruption-budget',
    severity: 'error',
    summary: 'Reports pod disruption budgets that keep nodes from being drained',
    fix: 'maxUnavailable: 1',
    opm: ['maxUnavailable field cannot be set to 0 or 0%', 'minAvailable field cannot be set to 100%'],
    inspect: checkDisruptionBudgets,
  },
  {
    id: 'object/disruption-rights',
    severity: 'warning',
    summary: 'Reports roles that change pod disruption budgets',
    fix: 'remove create, update and patch on poddisruptionbudgets from the role',
    opm: [
      'RBAC includes permission to create/update poddisruptionbudgets, which could impact cluster stability',
    ],
    inspect: checkDisruptionRights,
  },
  {
    id: 'object/priority-class',
    severity: 'error',
    summary: 'Reports priority classes that are the default of the cluster',
    fix: 'globalDefault: false',
    opm: ['globalDefault field cannot be set to true'],
    inspect: checkPriorityClasses,
  },
  {
    id: 'object/scc-rights',
    severity: 'error',
    summary: 'Reports roles that change the default security context constraints',
    fix: 'create your own security context constraints instead of changing the default ones',
    opm: [
      'RBAC includes permission to modify default securitycontextconstraints, which could impact cluster stability',
    ],
    inspect: checkSccRights,
  },
  {
    id: 'object/type',
    severity: 'error',
    summary: 'Reports fields of PodDisruptionBudgets, PriorityClasses and roles with the wrong type',
    fix: 'correct the field',
    opm: ['error unmarshaling poddisruptionbudget'],
    inspect: checkObjectTypes,
  },
];
