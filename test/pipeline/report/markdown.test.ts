import { expect, test } from 'vitest';
import type { Finding } from '../../../catalog/finding.ts';
import type { PackageDiff } from '../../../catalog/olm/diff.ts';
import { joinedDiffs } from '../../../pipeline/check/content/catalog-rules.ts';
import type { CheckReport } from '../../../pipeline/check/report.ts';
import { markdownReport } from '../../../pipeline/report/markdown.ts';
import { mermaidText } from '../../../pipeline/report/pictures/mermaid.ts';
import { GREEN } from '../../fakes/report.ts';

const REPORT: CheckReport = {
  ...GREEN,
  verdict: 'fail',
  headline: '1 error',
  authority: { decision: 'allow', reasons: [], needs: [], warnings: [] },
  policy: { source: '.github/portolan.yaml', expired: [] },
};

const at = (file: string, hint?: string): Finding => ({
  rule: 'channel/head',
  severity: 'error',
  message: 'two heads',
  location: { file, line: 3, column: 1 },
  ...(hint === undefined ? {} : { hint }),
});

const markdown = (finding: Finding): string =>
  markdownReport({ ...REPORT, findings: [finding] }, { server: 'https://github.com' });

test('findings lead to their lines at the judged head', () => {
  expect(markdown(at('catalogs/v4.20/etcd/catalog.yaml'))).toContain(
    `[\`catalogs/v4.20/etcd/catalog.yaml:3\`](https://github.com/example/catalogs/blob/${'b'.repeat(40)}/catalogs/v4.20/etcd/catalog.yaml#L3)`,
  );
  expect(markdown(at(''))).not.toContain('/blob/bbb');
  expect(markdownReport({ ...REPORT, findings: [at('x')] })).not.toContain('/blob/bbb');
});

test('findings that the base branch has are counted', () => {
  const one = at('x');
  const known = (findings: Finding[]): string => markdownReport({ ...REPORT, known: findings });
  expect(known([one])).toContain('\n1 more finding already on the base branch.');
  expect(known([one, one])).toContain('\n2 more findings already on the base branch.');
});

test('no path ends its link, its cell or its code', () => {
  const text = markdown(at('a)](https:/evil`|?#&<b>\u202e.yaml'));
  const [, url = ''] = /\]\((https:\/\/github\.com[^)]*)\) \|/.exec(text) ?? [];
  expect(url).toMatch(/\/a%29%5D%28https%3A\/evil%60%7C%3F%23%26%3Cb%3E%E2%80%AE\.yaml#L3$/);
});

test('what is written as code ends only where it ends', () => {
  expect(markdown(at('x', 'name: ``<img src=x>` b'))).toContain('| ```name: ``<img src=x>` b``` |');
});

test('what changes alike in several catalogs is said once', () => {
  const diff: PackageDiff = {
    package: 'etcd',
    kind: 'changed',
    channels: [],
    bundles: [],
    deprecations: [],
    fates: [],
    graph: { package: 'etcd', lanes: [] } as unknown as PackageDiff['graph'],
  };
  const other = { ...diff, defaultChannel: { before: 'a', after: 'b' } };
  const placed = [
    { ...diff, catalogs: ['v4.17', 'v4.18'] },
    { ...other, catalogs: ['v4.19'] },
    { ...diff, catalogs: ['v4.20'] },
  ];
  expect(joinedDiffs(placed).map(({ catalogs }) => catalogs)).toEqual([
    ['v4.17', 'v4.18', 'v4.20'],
    ['v4.19'],
  ]);
});

test('98: a name is no reference to an issue, which GitHub would tell of this pull request', () => {
  const message = 'channels "evil/repo#1", #2, GH-3 and gh-4, but c#, #x and GH-x';
  const text = markdown({ ...at('catalog.yaml'), message });
  expect(text).toContain(
    'channels "evil/repo\\#\u200b1", \\#\u200b2, GH\\-\u200b3 and gh\\-\u200b4, but c\\#, \\#x and GH\\-x',
  );
});

test('what an upgrade requires is folded, escaped, and ends with the command that shows all', () => {
  const review = {
    package: 'etcd',
    from: 'etcd.v1',
    to: 'etcd.v2',
    act: 1,
    know: 0,
    channels: ['stable'],
    sections: [
      { title: 'Permissions', items: [{ weight: 'act' as const, text: 'new: <b>@bob</b> $$a$$' }] },
      { title: 'Webhooks', items: [], unknown: 'the manifests of etcd.v1 are not known' },
    ],
    images: { from: 'quay.io/a/etcd:1', to: 'quay.io/a/etcd:2' },
  };
  const diff = {
    package: 'etcd',
    catalogs: ['v4.20'],
    channels: [],
    bundles: [],
    deprecations: [],
    fates: [],
    graph: { package: 'etcd', lanes: [] },
    reviews: [review],
  } as unknown as CheckReport['diffs'][number];
  expect(markdownReport({ ...REPORT, diffs: [diff] })).toContain(
    [
      '<details><summary>Upgrade of etcd in v4.20 from etcd.v1 to etcd.v2 \\(channel stable\\): 1 change to accept or prepare for, 0 to know; 1 part not compared.</summary>',
      [
        '- Permissions:',
        '  - ❗ new: &lt;b&gt;@\u200bbob&lt;/b&gt; \\$\\$a\\$\\$',
        '- Not compared: Webhooks: the manifests of etcd.v1 are not known',
        '- All changes: `portolan diff --bundle quay.io/a/etcd:1 quay.io/a/etcd:2`',
      ].join('\n'),
      '</details>',
    ].join('\n\n'),
  );
});

test('rules lead to their pages, and only rules do', () => {
  const page = 'https://github.com/portolan/portolan/blob/main/docs/rules.md#channel-head';
  expect(markdown(at('x'))).toContain(`| [\`channel/head\`](${page}) |`);
  expect(markdown({ ...at('x'), rule: 'policy/value' })).toContain('| `policy/value` |');
});

test('a finding without a file has no place, one about a whole file no line', () => {
  expect(markdown(at(''))).toContain('| error |  | two heads |');
  const whole = { file: 'x', line: 1, column: 1 };
  expect(markdownReport({ ...REPORT, findings: [{ ...at('x'), location: whole }] })).toContain(
    '| error | `x` | two heads |',
  );
});

test.each([
  ['bob', ' --author bob`'],
  ['renovate[bot]', " --author 'renovate[bot]'`"],
  ['x; rm -rf', `--head ${'b'.repeat(40)}\``],
  ['', `--head ${'b'.repeat(40)}\``],
])('the command that reproduces a check of %j ends with %j', (author, end) => {
  const authority = { ...REPORT.authority, author };
  const [line = ''] = /Reproduce: .*/.exec(markdownReport({ ...REPORT, authority })) ?? [];
  expect(line.endsWith(end)).toBe(true);
});

test('what was not checked and how to repeat the check have their room before long tables', () => {
  const packages = Array.from({ length: 300 }, (_, at) => ({
    name: `p${at}`,
    catalogs: ['v4.20'],
    classes: ['add-entry'],
    details: [],
  }));
  const notes = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ what: `package ${at}`, why: 'it cannot be read' }));
  const shown = (count: number): string =>
    markdownReport({ ...REPORT, packages, unchecked: notes(count) } as CheckReport, { most: 4000 });
  expect(shown(50)).toContain('package 49: it cannot be read');
  expect(shown(50)).toContain('Reproduce: ');
  expect(shown(300)).toContain('Not checked: package 0: ');
});

test('a diagram beyond the share of a report that diagrams may take is left out, the changes are told', () => {
  const stops = Array.from({ length: 30 }, (_, at) => ({
    ...{ bundle: `v${at}`, label: `v${at}`, kind: 'added', isHead: at === 29, stuck: [], why: {} },
    hops: at === 29 ? [] : [{ to: `v${at + 1}`, olm: ['v0', 'v1'], kind: 'added' }],
  }));
  const lane = { channel: 'stable', isDefault: true, kind: 'same', isChanged: true, stops };
  const diff = {
    package: 'etcd',
    catalogs: ['v4.20'],
    channels: [],
    bundles: [],
    deprecations: [],
    fates: [],
    graph: { package: 'etcd', lanes: [lane] },
  } as unknown as CheckReport['diffs'][number];
  // Two would fit, and take four fifths.
  const most = 2.5 * (mermaidText(diff.graph, true) ?? '').length;
  const text = markdownReport({ ...REPORT, diffs: [diff, { ...diff, catalogs: ['v4.21'] }] }, { most });
  expect(text.match(/^```mermaid$/gm)).toHaveLength(1);
  expect(text).toContain('Changes in the files: etcd (v4.21)');
});
