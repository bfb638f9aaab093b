import { brotliCompressSync, constants } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { packedReport, unpackedReport } from '../../../pipeline/report/packed-report.ts';
import { GREEN } from '../../fakes/report.ts';

describe('a report on its way', () => {
  test('arrives as it was', () => {
    expect(unpackedReport(packedReport(GREEN))).toEqual(GREEN);
  });

  test('loses what is too large for an output, and says so', () => {
    const findings = Array.from({ length: 9_000 }, (_, i) => ({
      rule: 'graph/cycle',
      severity: 'error' as const,
      message: `${i} ${Math.sin(i)} ${Math.cos(i)} ${Math.tan(i)}`,
      location: { file: 'f', line: 1, column: 1 },
    }));
    const packed = packedReport({ ...GREEN, findings });
    expect(packed.length).toBeLessThan(128 * 1024);
    const { findings: left, unchecked } = unpackedReport(packed);
    expect([left.length, unchecked]).toEqual([
      500,
      [expect.objectContaining({ why: expect.stringContaining('too large') })],
    ]);
  });

  test('names all that it has lost', () => {
    const words = Array.from({ length: 9_000 }, (_, i) => `${Math.sin(i)} ${Math.cos(i)}`);
    const location = { file: 'f', line: 1, column: 1 };
    const finding = { rule: 'graph/cycle', severity: 'error' as const, location };
    const report = {
      ...GREEN,
      known: [{ ...finding, message: 'before' }],
      findings: words.map((message) => ({ ...finding, message })),
    };
    const { known, findings, unchecked } = unpackedReport(packedReport(report));
    expect([known.length, findings.length]).toEqual([0, 500]);
    expect(unchecked.map(({ what }) => what)).toEqual([
      'what changes in catalogs, and findings that the base branch has as well',
      'all but the first 500 findings',
    ]);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['another kind', { ...GREEN, kind: 'GateReport' }],
    ['a verdict of its own', { ...GREEN, verdict: 'allow' }],
    ['a head that is no commit', { ...GREEN, head: 'main' }],
    ['keys that nobody knows', { ...GREEN, approved: true }],
  ])('is refused with %s', (_, value) => {
    const packed = brotliCompressSync(JSON.stringify(value ?? null)).toString('base64');
    expect(() => unpackedReport(packed)).toThrow(/the input result is not a check report/);
  });

  test('that unfolds without end is refused', () => {
    const bomb = brotliCompressSync(Buffer.alloc(65 * 1024 * 1024, 32), {
      params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
    }).toString('base64');
    expect(() => unpackedReport(bomb)).toThrow('holds no report');
  });
});
