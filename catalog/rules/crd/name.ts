import { checkCrdName } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/name',
  severity: 'error',
  summary: 'A CRD is named <plural>.<group>',
  fix: 'metadata.name: PLURAL.GROUP, for example etcds.etcd.example.com',
  opm: ['metadata.name: Invalid value: must be spec.names.plural+"."+spec.group'],
  inspect: checkCrdName,
};
