import { checkMetadataTypes } from '../bundle-checks/files.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'manifest/metadata-type',
  severity: 'error',
  summary: 'The metadata of manifests has the types that Kubernetes reads',
  fix: 'write labels and annotations as strings',
  opm: ['json: cannot unmarshal … into Go struct field ObjectMeta.metadata.…'],
  inspect: checkMetadataTypes,
};
