import { checkAnnotationsFile } from '../bundle-checks/olm.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'olmv1/annotations-file',
  severity: 'info',
  summary: 'OLM v1 reads the annotations from metadata/annotations.yaml',
  fix: 'name the file metadata/annotations.yaml',
  opm: ['open metadata/annotations.yaml: no such file or directory'],
  inspect: checkAnnotationsFile,
};
