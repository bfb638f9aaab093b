import { checkSpecDescriptors } from '../bundle-checks/scorecard.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'scorecard/spec-descriptor',
  severity: 'error',
  summary: 'Examples have a spec, and each of its fields has a descriptor',
  fix: 'specDescriptors: [{path: size, description: …}]',
  opm: ['F does not have a spec descriptor'],
  inspect: checkSpecDescriptors,
};
