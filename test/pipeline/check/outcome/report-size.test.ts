import { expect, test } from 'vitest';
import type { Finding, Severity } from '../../../../catalog/finding.ts';
import type { HeadReview } from '../../../../catalog/olm/head-reviews.ts';
import type { ReviewItem } from '../../../../catalog/olm/upgrade-review.ts';
import { withinSize } from '../../../../pipeline/check/outcome/report-size.ts';
import { jsonReport } from '../../../../pipeline/report/json.ts';
import { markdownReport } from '../../../../pipeline/report/markdown.ts';
import { sarifReport } from '../../../../pipeline/report/sarif.ts';
import { textReport } from '../../../../pipeline/report/text-report.ts';
import { GREEN } from '../../../fakes/report.ts';

function findings(
  count: number,
  of: (at: number) => Partial<Finding> = () => ({}),
  severity: Severity = 'error',
): Finding[] {
  return Array.from({ length: count }, (_, at) => ({
    rule: 'graph/x',
    severity,
    message: `finding ${at}`,
    package: 'p',
    location: { file: 'catalog.yaml', line: at + 1, column: 1 },
    ...of(at),
  }));
}

test('a report of usual size stays as it is', () => {
  const report = {
    ...GREEN,
    findings: findings(100, (at) => ({ installed: [`1.0.${at}`] })),
    known: findings(100),
  };
  expect(withinSize(report)).toEqual(report);
});

test('what one rule finds of one package beyond 100 is counted in one', () => {
  const all = findings(150, (at) => ({
    channel: at % 2 === 0 ? 'a' : 'b',
    catalogs: [`v4.${at % 3}`],
    installed: ['1.0.0'],
    clusters: at,
  }));
  const { findings: kept, omitted } = withinSize({ ...GREEN, findings: all });
  expect(kept.slice(0, 100)).toEqual(all.slice(0, 100));
  expect(kept.slice(100)).toEqual([
    {
      rule: 'graph/x',
      severity: 'error',
      package: 'p',
      message: '50 more findings like this one, in channels "a" and "b": finding 100',
      location: { file: 'catalog.yaml', line: 101, column: 1 },
      catalogs: ['v4.1', 'v4.2', 'v4.0'],
    },
  ]);
  expect(omitted).toEqual(['findings beyond 100 of one rule and package, which are counted in one']);
});

test('packages, rules and severities are counted apart: 101 are never told as fewer than they are', () => {
  const [p, q] = [findings(101), findings(100, () => ({ package: 'q' }))];
  const warnings = findings(100, undefined, 'warning');
  const all = [...p, ...q, ...warnings];
  // One that is left over is told as it is.
  const { findings: kept } = withinSize({ ...GREEN, findings: all });
  expect(new Set(kept)).toEqual(new Set(all));
});

test('no report has more than 1000 findings, nor more than 1000 known ones', () => {
  const many = findings(1_200, (at) => ({ package: `p${at}` }));
  const { findings: kept, known, omitted } = withinSize({ ...GREEN, findings: many, known: many });
  expect(kept).toEqual(many.slice(0, 1_000));
  expect(known).toEqual(many.slice(0, 1_000));
  expect(omitted).toEqual([
    'all but the first 1000 of 1200 findings',
    'all but the first 1000 of 1200 known findings',
  ]);
});

test('lists of installations are cut where they are more than 20000 together', () => {
  const installed = Array.from({ length: 201 }, (_, at) => `1.0.${at}`);
  const few = findings(99, () => ({ installed }));
  expect(withinSize({ ...GREEN, findings: few }).findings).toEqual(few);
  const { findings: cut, omitted } = withinSize({ ...GREEN, findings: findings(100, () => ({ installed })) });
  expect(cut.map((finding) => finding.installed)).toEqual(Array(100).fill(installed.slice(0, 50)));
  expect(omitted).toEqual(['all but the first 50 installations of each finding and row']);
});

test('the diagrams of a report show at most 2000 versions, and 1000 changed bundles', () => {
  const stops = (count: number): object[] => Array.from({ length: count }, () => ({}));
  const diff = (lanes: number[], bundles: number): (typeof GREEN.diffs)[number] =>
    ({
      package: 'p',
      catalogs: ['v4.20'],
      channels: [],
      bundles: stops(bundles),
      fates: [],
      graph: { lanes: lanes.map((count) => ({ stops: stops(count) })) },
    }) as unknown as (typeof GREEN.diffs)[number];
  const small = withinSize({ ...GREEN, diffs: [diff([1_000, 1_000], 1_000)] });
  expect(small.omitted).toBeUndefined();
  const { diffs, omitted } = withinSize({ ...GREEN, diffs: [diff([1_000, 1_001], 600), diff([], 600)] });
  expect(diffs.map(({ graph, bundles }) => [graph.lanes.length, bundles.length])).toEqual([
    [1, 600],
    [0, 400],
  ]);
  expect(omitted).toEqual([
    'changed entries, edges and bundles beyond 1000',
    'diagrams of channels beyond 2000 versions',
  ]);
});

test('reviews of upgrades show the first items of each part, and count all', () => {
  const items = (count: number, weight: 'act' | 'know'): ReviewItem[] =>
    Array.from({ length: count }, (_, at) => ({ weight, text: `${weight} ${at}` }));
  const review = (...all: readonly (readonly ReviewItem[])[]): HeadReview => ({
    package: 'p',
    from: 'p.v1',
    to: 'p.v2',
    act: 150,
    know: 100,
    channels: ['stable'],
    sections: all.map((one) => ({ title: 'Images', items: one })),
  });
  const diff = (reviews: readonly HeadReview[]) =>
    ({
      package: 'p',
      catalogs: [],
      channels: [],
      bundles: [],
      fates: [],
      graph: { lanes: [] },
      reviews,
    }) as unknown as (typeof GREEN.diffs)[number];
  const { diffs, omitted } = withinSize({
    ...GREEN,
    diffs: [diff([review([...items(100, 'know'), ...items(150, 'act')])])],
  });
  expect(diffs[0]?.reviews).toMatchObject([
    { act: 150, know: 100, sections: [{ items: items(100, 'act') }] },
  ]);
  expect(omitted).toEqual(['what an upgrade requires beyond 100 items of a list']);
  const many = Array.from({ length: 21 }, () => review(items(100, 'act')));
  const cut = withinSize({ ...GREEN, diffs: [diff(many.slice(0, 10)), diff(many.slice(10))] });
  expect(cut.diffs.map(({ reviews }) => reviews?.length)).toEqual([10, 10]);
  expect(cut.omitted).toEqual(['what upgrades require beyond 2000 items']);
});

test('packages, notes on what was not checked and waived findings are counted where they are too many', () => {
  const many = <T>(count: number, of: (at: number) => T): T[] =>
    Array.from({ length: count }, (_, at) => of(at));
  const package_ = (details: number) => (at: number) => ({
    name: `p${at}`,
    catalogs: ['v4.20'],
    classes: ['add-entry'],
    details: many(details, (one) => `adds p.v${one}`),
  });
  const note = (at: number) => ({ what: `package ${at}`, why: 'it cannot be read' });
  const [finding] = findings(1) as [Finding];
  const waived = (count: number) => many(count, () => ({ finding, until: '2026-12-31', reason: 'known' }));
  const usual = {
    ...GREEN,
    packages: many(1_000, package_(20)),
    unchecked: many(200, note),
    waived: waived(200),
  };
  expect(withinSize(usual)).toEqual(usual);
  const large = withinSize({
    ...GREEN,
    packages: many(1_001, package_(21)),
    unchecked: many(201, note),
    waived: waived(201),
  });
  expect([large.packages.length, large.unchecked.length, large.waived.length]).toEqual([1_000, 200, 200]);
  expect(large.packages[0]?.details).toHaveLength(20);
  expect(large.omitted).toEqual([
    'all but the first 1000 of 1001 packages',
    'all but the first 200 of 201 notes on what was not checked',
    'all but the first 200 of 201 waived findings',
    'details of packages beyond 20 of each',
  ]);
});

test('no text of a finding is longer than a line can be, whatever a file names', () => {
  const long = 'x'.repeat(1_000_000);
  const [kept] = withinSize({
    ...GREEN,
    findings: findings(1, () => ({ message: long, hint: long })),
  }).findings;
  const cut = `${'x'.repeat(2_000)} … (998000 more characters)`;
  expect(kept).toMatchObject({ message: cut, hint: cut });
  const short = findings(1, () => ({ message: 'x'.repeat(2_000), hint: 'y' }));
  expect(withinSize({ ...GREEN, findings: short }).findings).toEqual(short);
});

test.each(
  Object.entries({ text: textReport, json: jsonReport, markdown: markdownReport, sarif: sarifReport }),
)('the largest report is below 8 MB as %s', (_, print) => {
  const many = findings(1_200, (at) => ({ package: `p${at}`, message: 'x'.repeat(10_000) }));
  const whole = withinSize({ ...GREEN, findings: many, known: many });
  expect(print(whole).length).toBeLessThan(8_000_000);
});
