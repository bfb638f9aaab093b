import { checkObjectTypes } from '../bundle-checks/practice.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'object/type',
  severity: 'error',
  summary: 'Objects that endanger clusters fit their types',
  fix: 'write the field as the message says',
  opm: ['error unmarshaling poddisruptionbudget'],
  inspect: checkObjectTypes,
};
