import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/field-type',
  severity: 'error',
  summary: 'Every field has the type that its schema defines',
  opm: [
    'expected value for key "name" to be a string, got …',
    'parse package: json: cannot unmarshal … into Go struct field …',
    'parse channel: …',
    'parse bundle: …',
    'parse deprecation: …',
  ],
};
