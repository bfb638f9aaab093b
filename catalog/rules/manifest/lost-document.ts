import { checkLostDocuments } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/lost-document',
  severity: 'warning',
  summary: 'A file of manifests/ holds one document: only OLM v1 reads the others',
  inspect: checkLostDocuments,
};
