import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/unreadable',
  severity: 'warning',
  summary:
    'Files next to the package file are YAML or JSON, because older tools read each of them as a package',
  fix: 'move the file out of the folder',
  opm: ['could not decode contents of file F into package: …'],
};
