import { checkPlatformsAlike } from '../bundle-checks/platform.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'platform/alike',
  severity: 'warning',
  summary: 'Other images of a bundle support the same platforms as the operator',
  fix: 'build the image for the same platforms as the operator',
  opm: [`check if the image I should not support A. …`],
  inspect: checkPlatformsAlike,
};
