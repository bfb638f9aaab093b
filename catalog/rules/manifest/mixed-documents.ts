import { checkMixedDocuments } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/mixed-documents',
  severity: 'error',
  summary: 'The files of the ClusterServiceVersion and of CRDs can be read by operator-sdk',
  opm: ['error loading objs in directory: unable to parse CSV FILE: …', 'unable to parse CRD FILE: …'],
  inspect: checkMixedDocuments,
};
