import { checkGvkDependency } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'dependency/gvk',
  severity: 'error',
  summary: 'A dependency on an API has a group, a version and a kind',
  fix: 'value: {group: etcd.io, version: v1, kind: Etcd}',
  opm: ['API Group is empty', 'API Version is empty', 'API Kind is empty'],
  inspect: checkGvkDependency,
};
