import { checkOwnedResources } from '../bundle-checks/scorecard.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'scorecard/resources',
  severity: 'error',
  summary: 'Owned CRDs list the resources that the operator creates for them',
  opm: ['Owned CRDs do not have resources specified'],
  inspect: checkOwnedResources,
};
