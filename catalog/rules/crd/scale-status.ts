import { checkScaleStatus } from '../bundle-checks/crd-parts.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'crd/scale-status',
  severity: 'error',
  summary: 'A definition that scales says where the status has the number of replicas',
  fix: 'statusReplicasPath: .status.replicas',
  inspect: checkScaleStatus,
};
