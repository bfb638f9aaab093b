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
      'Reports operators for disconnected clusters that do not list their images by digest or read them from environment variables',
    fix: 'list images by digest in relatedImages, and pass them in environment variables RELATED_IMAGE_…',
    inspect: checkDisconnectedClaim,
  },
  {
    id: 'disconnected/listed',
    severity: 'warning',
    summary: 'Reports images of a ClusterServiceVersion that are not in its relatedImages',
    inspect: checkImagesListed,
  },
  {
    id: 'disconnected/pinned',
    severity: 'warning',
    summary: 'Reports images that a ClusterServiceVersion does not reference by digest',
    inspect: checkImagesPinned,
  },
];
