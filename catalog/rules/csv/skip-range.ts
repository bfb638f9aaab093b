import { checkSkipRange } from '../bundle-checks/update.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'csv/skip-range',
  severity: 'warning',
  summary: 'The annotation olm.skipRange is a range of semantic versions',
  inspect: checkSkipRange,
};
