import { describe, expect, test } from 'vitest';
import type { PackageFleet } from '../../../../catalog/olm/fleet/count.ts';
import { packageStreams, platformStreams } from '../../../../pipeline/report/pictures/fleet-streams.ts';
import { type Stream, sankeyText } from '../../../../pipeline/report/pictures/sankey.ts';

const stream = (from: string, to: string, clusters: number): Stream => ({ from, to, clusters, tone: 'good' });

describe('the diagram of clusters', () => {
  test('each stream is a ribbon, each end a bar with its number', () => {
    const svg = sankeyText('clusters', [stream('1.0.0', '1.9.0', 1100), stream('1.1.0', '1.9.0', 312)]);
    expect(svg.match(/<path /g)).toHaveLength(2);
    expect(svg).toContain('<title>1.0.0 → 1.9.0: 1,100</title>');
    expect(svg).toContain('>1.9.0: 1,412</text>');
    expect(svg).toContain('role="img" aria-label="clusters"');
  });

  test('many versions share a bar, and no cluster is lost', () => {
    const many = Array.from({ length: 40 }, (_, i) => stream(`1.${i}.0`, `2.${i}.0`, i + 1));
    const svg = sankeyText('clusters', many);
    expect(svg.match(/<rect /g)).toHaveLength(26);
    const numbers = [...svg.matchAll(/<title>[^<]*: ([0-9,]+)<\/title>/g)].map(([, text = '']) =>
      Number(text.replace(',', '')),
    );
    expect(numbers.reduce((sum, one) => sum + one, 0)).toBe((40 * 41) / 2);
  });

  test('names are escaped, and nothing is drawn of no clusters', () => {
    const svg = sankeyText('"><script>', [stream('<img src=x>', 'a & b', 1)]);
    expect(svg).not.toMatch(/<script|<img/);
    expect(sankeyText('clusters', [stream('a', 'b', 0)])).toBe('');
  });
});

test('streams have every cluster of a report', () => {
  const outcomes = [
    {
      outcome: 'strands',
      clusters: 312,
      platforms: [
        { platform: '', clusters: 12 },
        { platform: '4.18', clusters: 300 },
      ],
    },
  ] as const;
  const flows: PackageFleet['flows'] = [
    { platform: '4.18', outcome: 'strands', installed: '1.0.0', next: '', end: '1.0.0', clusters: 312 },
    {
      platform: '4.18',
      outcome: 'not-known',
      installed: '',
      next: '',
      end: '',
      notKnown: 'version',
      clusters: 4,
    },
    { platform: '4.18', outcome: 'moves', installed: '', next: '1.9.0', end: '1.9.0', clusters: 5 },
  ];
  expect(platformStreams({ outcomes }).map(({ from, to, clusters }) => [from, to, clusters])).toEqual([
    ['unknown platform', 'stranded', 12],
    ['4.18', 'stranded', 300],
  ]);
  expect(packageStreams({ flows }).map(({ from, to, tone }) => [from, to, tone])).toEqual([
    ['1.0.0', '1.0.0: stranded', 'bad'],
    ['unknown version', 'cannot be simulated', 'dim'],
    ['another version', '1.9.0', 'good'],
  ]);
});
