import { checkStatusDescriptors } from '../bundle-checks/scorecard.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'scorecard/status-descriptor',
  severity: 'info',
  summary: 'The status fields of examples have descriptors',
  fix: 'statusDescriptors: [{path: ready, description: …}]',
  opm: ['C does not have a status descriptor'],
  inspect: checkStatusDescriptors,
};
