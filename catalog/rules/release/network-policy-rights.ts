import { type Fields, list, texts } from '../../bundle/inspect.ts';
import { called, ofCsv } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'release/network-policy-rights',
  severity: 'error',
  isOptional: true,
  summary: 'Reports an operator that may not create, change and delete NetworkPolicies for its operands',
  opm: ['Operator "N" version "V" is missing required NetworkPolicy RBAC'],
  inspect: ofCsv((csv, report, bundle) => {
    // The policy names the operator by the label of its package, and says nothing without one.
    if (bundle.package === '') return;
    const rules = ['clusterPermissions', 'permissions'].flatMap((kind) =>
      list(csv.spec, 'install', 'spec', kind).flatMap((permission) => list(permission, 'rules')),
    );
    if (rules.some(allows)) return;
    const message = `${called(csv)} has no permission to create, delete, and update or patch NetworkPolicies`;
    const hint =
      '- {apiGroups: [networking.k8s.io], resources: [networkpolicies], verbs: [create, delete, update]}';
    report(message, csv.at('spec', 'install', 'spec'), { hint });
  }),
};

function allows(rule: Fields): boolean {
  const [groups, resources, verbs] = ['apiGroups', 'resources', 'verbs'].map((key) => texts(rule, key));
  if (!groups?.some((one) => one === 'networking.k8s.io' || one === '*')) return false;
  if (!resources?.some((one) => one === 'networkpolicies' || one === '*')) return false;
  const has = (verb: string): boolean => verbs?.includes(verb) === true;
  return has('*') || (has('create') && has('delete') && (has('update') || has('patch')));
}
