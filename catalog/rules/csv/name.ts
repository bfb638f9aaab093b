import { checkCsvName } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/name',
  severity: 'error',
  summary: 'Names of ClusterServiceVersions are DNS names of at most 63 characters',
  fix: 'metadata.name: etcd.v1.0.0',
  opm: ['(N) metadata.name "N" is invalid: …', '(N) spec.replaces "N" is invalid: …'],
  inspect: checkCsvName,
};
