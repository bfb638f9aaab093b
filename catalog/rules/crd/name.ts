import { checkCrdName } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/name',
  severity: 'error',
  summary: 'A custom resource definition is named <plural>.<group>',
  fix: 'metadata.name: PLURAL.GROUP, such as etcds.etcd.example.com',
  opm: ['metadata.name: Invalid value: must be spec.names.plural+"."+spec.group'],
  inspect: checkCrdName,
};
