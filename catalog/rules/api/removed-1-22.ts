import { checkRemovedIn } from '../bundle-checks/removed-api.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'api/removed-1-22',
  severity: 'error',
  summary: 'No manifest uses an API that Kubernetes 1.22 removed',
  opm: ['this bundle is using APIs which were deprecated and removed in v1.22. …'],
  inspect: checkRemovedIn('1.22'),
};
