import { checkImagesListed } from '../bundle-checks/disconnected.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'disconnected/listed',
  severity: 'warning',
  summary: 'Every image of a ClusterServiceVersion is in its relatedImages',
  inspect: checkImagesListed,
};
