import { checkObjectTypes } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'object/type',
  severity: 'error',
  summary: 'The fields of PodDisruptionBudgets, PriorityClasses and roles have the right types',
  fix: 'correct the field',
  opm: ['error unmarshaling poddisruptionbudget'],
  inspect: checkObjectTypes,
};
