import { checkLostDocuments } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/lost-document',
  severity: 'warning',
  summary: 'A file in manifests/ contains one document, because only OLM v1 reads more',
  inspect: checkLostDocuments,
};
