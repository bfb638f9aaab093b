import { checkScale } from '../bundle-checks/crd-parts.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/scale',
  severity: 'error',
  summary: 'The paths of the scale subresource are in spec and status',
  fix: 'specReplicasPath: .spec.replicas',
  opm: ['subresources.scale.F: …'],
  inspect: checkScale,
};
