import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/duplicate-key',
  severity: 'error',
  summary: 'No two keys of an object differ only by case',
  opm: ['duplicate keys for key "name": [Name name]'],
};
