import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/channels-lost',
  severity: 'warning',
  summary: "A version's bundle keeps all of its channels",
  fix: 'add the other channels to the annotations of the bundle',
};
