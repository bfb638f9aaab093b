import { checkPlatformLabelNames } from '../bundle-checks/console.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'console/platform-label',
  severity: 'warning',
  summary: 'Platform labels name known platforms and have the value supported',
  inspect: checkPlatformLabelNames,
};
