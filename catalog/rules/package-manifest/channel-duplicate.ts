import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/channel-duplicate',
  severity: 'error',
  summary: 'A channel is defined once in its package file',
  fix: 'keep one of the two',
  opm: ['(p) duplicate package manifest channel name "c"'],
};
