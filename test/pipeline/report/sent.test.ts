import { brotliCompressSync, constants } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { CheckReport } from '../../../pipeline/report/report.ts';
import { packedReport, unpackedReport } from '../../../pipeline/report/sent.ts';

const REPORT: CheckReport = {
  apiVersion: 'portolan/v1alpha1',
  kind: 'CheckReport',
  verdict: 'pass',
  headline: 'allowed and green',
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

describe('a report on its way', () => {
  test('arrives as it was', () => {
    expect(unpackedReport(packedReport(REPORT))).toEqual(REPORT);
  });

  test('loses what is too large for an output, and says so', () => {
    const findings = Array.from({ length: 9_000 }, (_, i) => ({
      rule: 'graph/cycle',
      severity: 'error' as const,
      message: `${i} ${Math.sin(i)} ${Math.cos(i)} ${Math.tan(i)}`,
      location: { file: 'f', line: 1, column: 1 },
    }));
    const packed = packedReport({ ...REPORT, findings });
    expect(packed.length).toBeLessThan(128 * 1024);
    const { findings: left, unchecked } = unpackedReport(packed);
    expect([left.length, unchecked]).toEqual([
      500,
      [expect.objectContaining({ why: expect.stringContaining('too large') })],
    ]);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['another kind', { ...REPORT, kind: 'GateReport' }],
    ['a verdict of its own', { ...REPORT, verdict: 'allow' }],
    ['a head that is no commit', { ...REPORT, head: 'main' }],
    ['keys that nobody knows', { ...REPORT, approved: true }],
  ])('is refused with %s', (_, value) => {
    const packed = brotliCompressSync(JSON.stringify(value ?? null)).toString('base64');
    expect(() => unpackedReport(packed)).toThrow(/the input result is no report/);
  });

  test('that unfolds without end is refused', () => {
    const bomb = brotliCompressSync(Buffer.alloc(65 * 1024 * 1024, 32), {
      params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    }).toString('base64');
    expect(() => unpackedReport(bomb)).toThrow('holds no report');
  });
});
