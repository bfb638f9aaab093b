import { checkRemovedIn } from '../bundle-checks/removed-api.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'api/removed-1-25',
  severity: 'error',
  summary: 'No manifest or permission uses an API that Kubernetes 1.25 removed',
  opm: ['this bundle is using APIs which were deprecated and removed in v1.25. …'],
  inspect: checkRemovedIn('1.25'),
};
