import { checkReadable } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/unreadable',
  severity: 'error',
  summary: 'Every file of manifests/ is a Kubernetes object in YAML or JSON',
  fix: 'correct the file, or move it out of manifests/',
  opm: ['unable to decode object: …'],
  inspect: checkReadable,
};
