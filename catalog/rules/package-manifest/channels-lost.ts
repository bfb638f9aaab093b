import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/channels-lost',
  severity: 'warning',
  summary: 'A version becomes a bundle with all of its channels',
  fix: 'write the other channels into the annotations of the bundle',
};
