import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/limits',
  severity: 'error',
  summary: 'A catalog stays within the limits of the policy',
};
