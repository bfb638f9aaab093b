import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/ignored-content',
  severity: 'warning',
  summary: 'Nothing follows the end of a YAML document (...), where readers stop',
};
