import { checkHiddenFiles } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/hidden-file',
  severity: 'error',
  summary: 'The folder manifests/ contains no hidden files',
  opm: ['bundle manifests dir has hidden file: PATH'],
  inspect: checkHiddenFiles,
};
