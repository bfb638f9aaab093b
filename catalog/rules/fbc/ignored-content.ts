import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/ignored-content',
  severity: 'warning',
  summary: 'All of a document is read; what follows ... is lost',
};
