import { checkSelfReplacement } from '../bundle-checks/update.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/self-replacement',
  severity: 'warning',
  summary: 'A ClusterServiceVersion neither replaces nor skips itself',
  fix: 'set replaces to the previous version, or remove it for the first version',
  inspect: checkSelfReplacement,
};
