import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/orphan',
  severity: 'warning',
  summary: 'Every ClusterServiceVersion is reached by a channel from its head',
  fix: 'let a later version replace or skip it, or remove its folder',
};
