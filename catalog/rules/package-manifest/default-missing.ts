import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/default-missing',
  severity: 'error',
  summary: 'A package file with more than one channel names its default channel',
  fix: 'defaultChannel: stable',
  opm: [
    '(p) default channel is empty but more than one channel exists',
    'cannot find the default channel for package "p"',
  ],
};
