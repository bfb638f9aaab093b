import { checkRemovedIn } from '../bundle-checks/removed-api.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'api/removed-1-26',
  severity: 'error',
  summary: 'No manifest uses an API that Kubernetes 1.26 removed',
  opm: ['this bundle is using APIs which were deprecated and removed in v1.26. …'],
  inspect: checkRemovedIn('1.26'),
};
