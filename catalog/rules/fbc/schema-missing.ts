import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/schema-missing',
  severity: 'error',
  summary: 'Every document has a schema',
  opm: ["object '…' is missing root schema field"],
};
