import { checkOwnedResources } from '../bundle-checks/scorecard.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'scorecard/resources',
  severity: 'info',
  summary: 'Owned definitions list the resources that the operator makes of them',
  opm: ['Owned CRDs do not have resources specified'],
  inspect: checkOwnedResources,
};
