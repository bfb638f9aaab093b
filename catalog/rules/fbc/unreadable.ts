import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'fbc/unreadable',
  severity: 'error',
  summary: 'Every file of a catalog can be read',
  fix: 'use only regular files and links to them in a catalog',
  opm: ['open x: no such file or directory', 'read x: is a directory'],
};
