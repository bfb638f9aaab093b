import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/repeated-key',
  severity: 'warning',
  summary: 'A mapping has each key once; readers keep only the last one',
};
