import { checkDisruptionBudgets } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'object/disruption-budget',
  severity: 'error',
  summary: 'A pod disruption budget lets nodes be drained',
  fix: 'maxUnavailable: 1',
  opm: ['maxUnavailable field cannot be set to 0 or 0%', 'minAvailable field cannot be set to 100%'],
  inspect: checkDisruptionBudgets,
};
