import { checkAnnotatedFolders } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/folder',
  severity: 'error',
  summary: 'The annotated folders are manifests/ and metadata/',
  opm: ['lstat DIR: no such file or directory'],
  inspect: checkAnnotatedFolders,
};
