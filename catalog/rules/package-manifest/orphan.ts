import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'package-manifest/orphan',
  severity: 'warning',
  summary: 'Every ClusterServiceVersion is in the replaces chain of a channel, or skipped',
  fix: 'make a later version replace or skip it, or remove its folder',
};
