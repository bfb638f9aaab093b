import { checkSubfolders } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/subfolder',
  severity: 'error',
  summary: 'The folder manifests/ contains only files',
  opm: ['bundle manifests dir contains directory: PATH'],
  inspect: checkSubfolders,
};
