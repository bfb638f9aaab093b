import type { CheckReport } from '../../pipeline/check/report.ts';

/** A report of a pull request that is allowed and green, and changes nothing. */
export const GREEN: CheckReport = {
  apiVersion: 'portolan/v1alpha1',
  kind: 'CheckReport',
  verdict: 'pass',
  headline: 'allowed, and all checks passed',
  authority: { decision: 'allow', author: 'bob', reasons: [], needs: [], warnings: [] },
  base: 'a'.repeat(40),
  head: 'b'.repeat(40),
  policy: { source: 'built-in defaults', expired: [] },
  packages: [],
  findings: [],
  known: [],
  waived: [],
  diffs: [],
  holds: [],
  waitsFor: [],
  unchecked: [],
  request: {
    repository: 'example/catalogs',
    number: 7,
    branch: 'main',
    merge: { mode: 'off', method: 'squash', via: 'queue-if-enabled' },
    suggestions: true,
    ask: true,
  },
};
