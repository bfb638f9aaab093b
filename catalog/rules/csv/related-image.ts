import { checkRelatedImages } from '../bundle-checks/csv.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/related-image',
  severity: 'error',
  summary: 'Related images are image references',
  fix: 'image: quay.io/example/etcd@sha256:…',
  opm: ['relatedImages[i] has an empty image field', 'relatedImages[i] has an invalid image pullspec "S": …'],
  inspect: checkRelatedImages,
};
