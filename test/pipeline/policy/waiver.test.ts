import { describe, expect, test } from 'vitest';
import type { Finding } from '../../../catalog/finding.ts';
import type { Waiver } from '../../../pipeline/policy/policy.ts';
import { applyWaivers } from '../../../pipeline/policy/waiver.ts';

const TODAY = '2027-01-31';

const waiver = (reason: string, catalog?: string): Waiver => ({
  rule: 'graph/stranded',
  package: 'etcd',
  catalog,
  until: TODAY,
  reason,
});
const found = (...catalogs: string[]): Finding => ({
  rule: 'graph/stranded',
  severity: 'error',
  message: 'x',
  location: { file: 'f', line: 1, column: 1 },
  package: 'etcd',
  catalogs,
});
const reasons = (finding: Finding, ...waivers: Waiver[]): string[] =>
  applyWaivers([finding], waivers, TODAY).waived.map((one) => one.waiver.reason);

describe('a finding is reported with a waiver that is about it', () => {
  test('of several, the one for its catalog', () => {
    expect(reasons(found('v4.18'), waiver('old', 'v4.17'), waiver('known', 'v4.18'))).toEqual(['known']);
  });

  test('or the one for all catalogs', () => {
    expect(reasons(found('v4.18'), waiver('old', 'v4.17'), waiver('everywhere'))).toEqual(['everywhere']);
  });

  test('with none, it counts', () => {
    const { findings, waived } = applyWaivers([found('v4.18')], [waiver('old', 'v4.17')], TODAY);
    expect([findings, waived]).toEqual([[found('v4.18')], []]);
  });

  test('in the catalogs that no waiver names, it counts', () => {
    const { findings } = applyWaivers([found('v4.17', 'v4.18')], [waiver('old', 'v4.17')], TODAY);
    expect(findings).toEqual([found('v4.18')]);
  });
});
