import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/several',
  severity: 'error',
  summary: 'A folder of package manifests has one package file',
  fix: 'keep one package file',
  opm: ['multiple package manifest files found in directory'],
};
