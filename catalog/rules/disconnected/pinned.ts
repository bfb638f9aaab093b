import { checkImagesPinned } from '../bundle-checks/disconnected.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'disconnected/pinned',
  severity: 'warning',
  summary: 'A ClusterServiceVersion references images by digest',
  inspect: checkImagesPinned,
};
