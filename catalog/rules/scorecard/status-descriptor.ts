import { checkStatusDescriptors } from '../bundle-checks/scorecard.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'scorecard/status-descriptor',
  severity: 'error',
  summary: 'Owned CRDs whose examples have a status have status descriptors',
  fix: 'statusDescriptors: [{path: ready, description: …}]',
  opm: ['C does not have a status descriptor'],
  inspect: checkStatusDescriptors,
};
