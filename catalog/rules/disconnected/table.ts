import {
  checkDisconnectedClaim,
  checkImagesListed,
  checkImagesPinned,
} from '../bundle-checks/disconnected.ts';
import type { Rule } from '../rule.ts';

export const rules: readonly Rule[] = [
  {
    id: 'disconnected/claim',
    severity: 'warning',
    summary:
      'An operator for disconnected clusters lists its images by digest and reads them from environment variables',
    fix: 'list images by digest in relatedImages, and pass them in environment variables RELATED_IMAGE_…',
    inspect: checkDisconnectedClaim,
  },
  {
    id: 'disconnected/listed',
    severity: 'warning',
    summary: 'Every image of a ClusterServiceVersion is in its relatedImages',
    inspect: checkImagesListed,
  },
  {
    id: 'disconnected/pinned',
    severity: 'warning',
    summary: 'A ClusterServiceVersion references images by digest',
    inspect: checkImagesPinned,
  },
];
