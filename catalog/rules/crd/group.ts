import { checkCrdGroup } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/group',
  severity: 'error',
  summary: 'The group of a CRD is a domain name',
  fix: 'group: etcd.example.com',
  opm: ['spec.group: …'],
  inspect: checkCrdGroup,
};
