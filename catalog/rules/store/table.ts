import { checkRequiredForStore } from '../bundle-checks/required-fields.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'store/required-field',
    severity: 'error',
    summary:
      'Reports ClusterServiceVersions without a field that OperatorHub requires, as operator-pipelines checks it',
    fix: 'add the field',
    inspect: checkRequiredForStore,
  },
];
