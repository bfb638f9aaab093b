import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/object',
  severity: 'error',
  summary: 'Every document is an object',
  opm: [
    'error unmarshaling JSON: while decoding JSON: json: cannot unmarshal … into Go value of type map[string]interface {} …',
  ],
};
