import { checkDisconnectedClaim } from '../bundle-checks/disconnected.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'disconnected/claim',
  severity: 'warning',
  summary:
    'An operator for disconnected clusters lists its images by digest and reads them from environment variables',
  fix: 'list images by digest in relatedImages, and pass them in environment variables RELATED_IMAGE_…',
  inspect: checkDisconnectedClaim,
};
