import { checkFolders } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/folders',
  severity: 'error',
  summary: 'A bundle has files in manifests/ and in metadata/',
  opm: ['Unable to locate manifests directory', 'The directory DIR contains no yaml files'],
  inspect: checkFolders,
};
