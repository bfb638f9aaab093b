import { checkDisconnectedClaim } from '../bundle-checks/disconnected.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'disconnected/claim',
  severity: 'warning',
  summary: 'An operator for disconnected clusters lists its images by digest and takes them from variables',
  fix: 'name images by digest in relatedImages, and pass them in variables RELATED_IMAGE_…',
  inspect: checkDisconnectedClaim,
};
