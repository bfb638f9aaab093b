import { checkSpecDescriptors } from '../bundle-checks/scorecard.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'scorecard/spec-descriptor',
  severity: 'info',
  summary: 'The spec fields of examples have descriptors',
  fix: 'specDescriptors: [{path: size, description: …}]',
  opm: ['F does not have a spec descriptor'],
  inspect: checkSpecDescriptors,
};
