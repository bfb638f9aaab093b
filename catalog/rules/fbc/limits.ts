import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/limits',
  severity: 'error',
  summary: 'A catalog stays within the limits of the policy',
  fix: 'split the file, or raise limits.fileBytes in the policy',
};
