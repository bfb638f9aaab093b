import { describe, expect, test } from 'vitest';
import type { Finding } from '../../../../catalog/finding.ts';
import { type Checked, headlineFor } from '../../../../pipeline/check/outcome/headline.ts';

const NOWHERE = { file: 'c/v1/p.yaml', line: 7, column: 3 };

function finding(rule: string, installed: readonly string[], details: Partial<Finding> = {}): Finding {
  const message = `something of package "p" is wrong: ${installed.join(', ')}`;
  return { rule, severity: 'error', message, location: NOWHERE, package: 'p', installed, ...details };
}

function headlineOf(findings: readonly Finding[], details: Partial<Checked> = {}): string {
  return headlineFor({
    verdict: 'fail',
    findings,
    uncounted: 0,
    authority: undefined,
    unchecked: [],
    incomplete: undefined,
    template: undefined,
    ...details,
  });
}

const V0 = 'graph/strands-installed-v0';
const V1 = 'graph/strands-installed-v1';

describe('the first line of a report', () => {
  test('names who is harmed, and how many errors are left', () => {
    const findings = [
      finding('fbc/schema', []),
      finding(V0, ['1.6.1', '1.7.0']),
      finding('image/missing', []),
    ];
    expect(headlineOf(findings)).toBe('p: 1.6.1 and 1.7.0 lose their upgrade path (OLM v0); 2 more errors');
  });

  test('one harm of one package is said once, with both OLMs', () => {
    expect(headlineOf([finding(V0, ['1.6.1']), finding(V1, ['1.6.1']), finding(V0, ['1.6.1'])])).toBe(
      'p: 1.6.1 loses its upgrade path (OLM v0 and v1)',
    );
  });

  test('the same harm of another package is one more error', () => {
    expect(headlineOf([finding(V0, ['1.0.0']), finding(V0, ['1.0.0'], { package: 'q' })])).toBe(
      'p: 1.0.0 loses its upgrade path (OLM v0); 1 more error',
    );
  });

  test.each([12, 120])('%i versions fit in a commit status', (count) => {
    const versions = Array.from({ length: count }, (_, i) => `1.${i}.0-rc.1+20261126.build.${i}`);
    const line = headlineOf([finding(V0, versions), finding('fbc/schema', [])]);
    expect(line).toMatch(/^p: 1\.0\.0-rc\.1\+20261126\.build\.0.* and \d+ more lose .* 1 more error$/);
    expect(line.length).toBeLessThanOrEqual(140);
  });

  test('where no installation is named, it is what is wrong and where', () => {
    const { package: _, ...unread } = finding('fbc/schema', [], { message: 'the file cannot be read' });
    expect(headlineOf([unread])).toBe('c/v1/p.yaml:7: the file cannot be read');
    expect(headlineOf([finding('graph/bundle-mutated', [])])).toBe('p: something is wrong: ');
  });

  test('a long message ends with a clause, or is cut', () => {
    const long = { message: `bundle "b" is published and now differs: image ${'x'.repeat(200)}` };
    expect(
      headlineOf([finding('fbc/schema', [], { ...long, package: 'an-operator-with-a-rather-long-name' })]),
    ).toBe('an-operator-with-a-rather-long-name: bundle "b" is published and now differs');
    expect(headlineOf([finding('fbc/schema', [], { message: 'x'.repeat(200) })])).toHaveLength(140);
  });

  test('a check that passes names the versions that a warning leaves without an upgrade path', () => {
    const warned = finding('graph/strands-on-platform-upgrade', ['1.0.0'], { severity: 'warning' });
    expect(headlineOf([warned], { verdict: 'pass' })).toMatch(
      /^all checks passed, with a warning: p: 1\.0\.0 is stranded by a platform upgrade; permissions/,
    );
    const blocked = finding('graph/channel-switch-blocked', [], {
      severity: 'warning',
      message: 'users stay',
    });
    expect(headlineOf([blocked], { verdict: 'pass' })).toMatch(
      /^all checks passed, with a warning: p: users stay; permissions/,
    );
    const harmless = finding('image/unpinned', ['1.0.0'], { severity: 'warning' });
    expect(headlineOf([harmless], { verdict: 'pass' })).toMatch(
      /^all checks passed, with 1 warning; permissions/,
    );
  });
});
