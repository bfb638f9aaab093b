import { checkSelfReplacement } from '../bundle-checks/update.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/self-replacement',
  severity: 'warning',
  summary: 'A ClusterServiceVersion neither replaces nor skips itself',
  fix: 'replaces: the version before, or nothing for the first one',
  inspect: checkSelfReplacement,
};
