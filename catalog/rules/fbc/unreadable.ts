import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/unreadable',
  severity: 'error',
  summary: 'Every file of a catalog can be read',
  fix: 'every file of a catalog must be a regular file, or a link to one',
  opm: ['open x: no such file or directory', 'read x: is a directory'],
};
