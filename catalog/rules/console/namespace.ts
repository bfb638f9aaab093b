import { checkSuggestedNamespace } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/namespace',
  severity: 'warning',
  summary: 'The suggested namespace has a valid name',
  fix: 'operatorframework.io/suggested-namespace: etcd-operator',
  inspect: checkSuggestedNamespace,
};
