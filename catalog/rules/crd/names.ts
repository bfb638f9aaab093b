import { checkNames } from '../bundle-checks/crd.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/names',
  severity: 'error',
  summary: 'Plural, singular, kind and list kind of a CRD are valid',
  fix: 'names: {kind: Etcd, listKind: EtcdList, plural: etcds, singular: etcd}',
  opm: ['spec.names.F: …'],
  inspect: checkNames,
};
