import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/unreadable',
  severity: 'error',
  summary: 'Every file of a catalog can be read',
  opm: ['open x: no such file or directory', 'read x: is a directory'],
};
