import { checkMetadataReadable } from '../bundle-checks/annotations.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'annotations/unreadable',
  severity: 'error',
  summary: 'Every file of metadata/ is YAML or JSON',
  fix: 'correct the YAML, or recreate the file with portolan bundle generate',
  opm: ['unable to load the annotations file F: …'],
  inspect: checkMetadataReadable,
};
