import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/repeated-key',
  severity: 'warning',
  summary: 'A key stands once in a mapping; readers silently keep the last',
};
