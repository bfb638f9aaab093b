import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/version-folder',
  severity: 'warning',
  summary:
    'Each version has a folder beside the package file, without folders within, as operator-sdk expects',
  fix: 'move the files of the version to a folder of its own beside the package file',
  opm: ['bundle manifests dir contains directory: D'],
};
