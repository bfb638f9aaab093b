import { describe, expect, test } from 'vitest';
import type { HopGraph, HopStop } from '../../../../catalog/olm/graph/hop-graph.ts';
import { mermaidText } from '../../../../pipeline/report/pictures/mermaid.ts';
import { svgText } from '../../../../pipeline/report/pictures/svg.ts';

function stop(bundle: string, to: string | undefined, more: Partial<HopStop> = {}): HopStop {
  return {
    bundle,
    label: bundle,
    kind: 'same',
    isHead: false,
    isSkipped: false,
    isDeprecated: false,
    stuck: [],
    hops: to === undefined ? [] : [{ to, olm: ['v0', 'v1'], kind: 'same' }],
    why: {},
    ...more,
  };
}

/** A chain of so many stops, the head added. */
function chain(length: number, channel = 'stable'): HopGraph['lanes'][number] {
  const stops = Array.from({ length }, (_, i) => {
    if (i === length - 1) return stop(`v${i}`, undefined, { isHead: true, kind: 'added' });
    const hops = [{ to: `v${i + 1}`, olm: ['v0', 'v1'] as const, kind: 'same' as const }];
    const [hop] = hops;
    return i === length - 2 && hop
      ? stop(`v${i}`, undefined, { hops: [{ ...hop, kind: 'added' }] })
      : stop(`v${i}`, undefined, { hops });
  });
  return { channel, isDefault: true, kind: 'same', isChanged: true, stops };
}

describe('the ladder', () => {
  test('a small change: what is long and unchanged becomes one node', () => {
    expect(mermaidText({ package: 'p', lanes: [chain(12)] }, true)).toBe(
      [
        'flowchart LR',
        '  subgraph l0["stable (default)"]',
        '    l0n0["v0 … v9 (10 versions)"]:::many',
        '    l0n1["v10"]',
        '    l0n2["v11"]:::added',
        '  end',
        '  l0n0 --> l0n1',
        '  l0n1 --> l0n2',
        '  linkStyle 1 stroke:#2da44e,stroke-width:3px',
        '  classDef added fill:#dafbe1,stroke:#2da44e,color:#1f2328',
        '  classDef many stroke-dasharray:2',
        '',
      ].join('\n'),
    );
  });

  test('the whole of a package where nothing need be left out', () => {
    const text = mermaidText({ package: 'p', lanes: [chain(12)] }, false) ?? '';
    expect(text.match(/-->/g)).toHaveLength(11);
  });

  test('what is too much is shown around the change only, and at last not at all', () => {
    const stops = Array.from({ length: 600 }, (_, i) => stop(`old${i}`, 'head'));
    const lane = {
      ...chain(2),
      stops: [...stops, stop('head', undefined, { isHead: true }), ...chain(2).stops],
    };
    const near = mermaidText({ package: 'p', lanes: [lane] }, true) ?? '';
    expect(near).toContain('and 600 unchanged');
    expect(near.length).toBeLessThan(2000);
    const loud = { ...lane, stops: lane.stops.map((one) => ({ ...one, kind: 'added' as const })) };
    expect(
      mermaidText({ package: 'p', lanes: [loud, { ...loud, channel: 'b' }] }, true)?.length,
    ).toBeUndefined();
  });

  test('nothing for a change that moves nobody', () => {
    expect(mermaidText({ package: 'p', lanes: [{ ...chain(3), isChanged: false }] }, true)).toBeUndefined();
  });
});

test('names become neither syntax nor markup', () => {
  const hostile = '"];click x href "javascript:alert(1)"\n</script>#`|@team';
  const lane = { ...chain(2), channel: hostile, stops: [stop('a', undefined, { label: hostile })] };
  const text = mermaidText({ package: 'p', lanes: [lane] }, true) ?? '';
  // Besides the quotes around the two labels nothing of it is left that means anything.
  expect(text.replaceAll(/\[".*"\]/g, '')).toBe('flowchart LR\n  subgraph l0\n    l0n0\n  end\n');
  expect(text.match(/"/g)).toHaveLength(4);
  const svg = svgText({ package: hostile, lanes: [lane] }, { interactive: true, styled: true });
  expect(svg).not.toContain('</script>');
  expect(svg.match(/<text/g)).toHaveLength(2);
});

test('of two resolvers that disagree both edges are drawn, the one of OLM v1 dashed', () => {
  const hops = [
    { to: 'b', olm: ['v0'] as const, kind: 'same' as const },
    { to: 'c', olm: ['v1'] as const, kind: 'same' as const },
  ];
  const lane = { ...chain(2), stops: [stop('a', undefined, { hops }), stop('b', 'c'), stop('c', undefined)] };
  const text = mermaidText({ package: 'p', lanes: [lane] }, true) ?? '';
  expect(text).toContain('l0n0 -->|v0| l0n1\n  l0n0 -.->|v1| l0n2');
  const svg = svgText({ package: 'p', lanes: [lane] }, { interactive: false, styled: true });
  expect(svg).toContain('class="edge same only-v1" data-from="a" data-to="c" data-olm="v1"');
});
