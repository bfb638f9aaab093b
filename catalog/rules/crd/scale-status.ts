import { checkScaleStatus } from '../bundle-checks/crd-parts.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/scale-status',
  severity: 'error',
  summary: 'A CRD with a scale subresource declares statusReplicasPath',
  fix: 'statusReplicasPath: .status.replicas',
  inspect: checkScaleStatus,
};
