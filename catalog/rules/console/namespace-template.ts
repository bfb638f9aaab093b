import { checkNamespaceTemplate } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/namespace-template',
  severity: 'warning',
  summary: 'The template of the suggested namespace is a Namespace',
  fix: '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "etcd"}}',
  inspect: checkNamespaceTemplate,
};
