import { checkMetadata } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/metadata',
  severity: 'error',
  summary: 'Manifests have valid metadata, and no namespace',
  fix: 'write metadata that Kubernetes accepts, without a namespace',
  opm: ['error validating object metadata: …'],
  inspect: checkMetadata,
};
