import { checkPlatformsSupported } from '../bundle-checks/platform.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'platform/unsupported',
  severity: 'error',
  summary: "Every image of a bundle supports the platforms in the ClusterServiceVersion's labels",
  opm: [`not all images specified are providing the support described via the CSV labels. …`],
  inspect: checkPlatformsSupported,
};
