import { checkRequiredForStore } from '../bundle-checks/required-fields.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'store/required-field',
    severity: 'error',
    summary:
      'A ClusterServiceVersion has the fields that OperatorHub requires, as operator-pipelines checks them',
    fix: 'add the field',
    inspect: checkRequiredForStore,
  },
];
