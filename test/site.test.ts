/** The pages of the documentation site, before the generator makes HTML of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tryParseMinor } from '../catalog/fbc/openshift.ts';
import { clustersAccept, kubernetesOf, olmOf } from '../catalog/fbc/platform.ts';
import { RULES } from '../catalog/rules/index.ts';
import { COMMAND_GROUPS } from '../pipeline/cli/commands.ts';
import { GROUPS } from '../scripts/site/navigation.ts';
import { commandPages, documentFiles, rulePages, sitePages } from '../scripts/site/pages.ts';
import { siteVersions } from '../scripts/site/versions.ts';

const documents = new Map(documentFiles(readdirSync).map((file) => [file, readFileSync(file, 'utf8')]));
const pages = sitePages({ sources: 'https://example.com/blob/main', documents });
const byPath = new Map(pages.map(({ path, text }) => [path, text]));

test('each page of docs/ stands in the navigation once', () => {
  const listed = GROUPS.flatMap(({ pages: names }) => names);
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.filter((name) => !documents.has(name))).toEqual([]);
  const written = [...documents.keys()].filter((name) => /^docs\/[^/]+$/.test(name));
  expect(written.filter((name) => !listed.includes(name))).toEqual([]);
});

test('each rule is on one page, that of its group, and in the list of all', () => {
  const [list, ...groups] = rulePages(documents.get('docs/rules.md') ?? '');
  for (const { id } of RULES) {
    const found = groups.filter(({ text }) => text.includes(`\n## \`${id}\`\n`)).map(({ path }) => path);
    expect(found).toEqual([`rules/${id.split('/')[0]}.md`]);
    // Findings link to the anchor on the page of all rules.
    expect(list?.text).toContain(`<a id="${id.replace('/', '-')}"></a>`);
  }
});

test('each command is on one page, with its help, and in the list of all', () => {
  const all = commandPages(documents.get('docs/cli.md') ?? '');
  const list = all[0]?.text ?? '';
  for (const { words, summary } of COMMAND_GROUPS.flatMap(({ commands }) => commands)) {
    const path = `commands/${words.replaceAll(' ', '-')}.md`;
    const text = all.find((page) => page.path === path)?.text;
    expect(text).toContain(`# portolan ${words}\n`);
    expect(text).toContain(`Usage: portolan ${words}`);
    expect(list).toContain(`[\`portolan ${words}\`](${posix.basename(path)}) | ${summary}. |`);
  }
});

test('the help of a command is text that fits narrow screens: only its usage, its files and its examples are code', () => {
  const help = ['Usage: portolan a FILE', '', 'Does *a*.', '', 'FILE is YAML:', '  a: 1'];
  const more = ['', 'Options:', '      --to DIR|-  where_to <write>', '', 'Examples:', '  portolan a x'];
  const [, page] = commandPages(
    ['# Commands', '## G', '### portolan a', '```', ...help, ...more, '```'].join('\n'),
  );
  expect(page?.text.split(/\n+/)).toEqual([
    '# portolan a',
    ...['```', 'Usage: portolan a FILE', '```'],
    'Does \\*a\\*.',
    ...['```', 'FILE is YAML:', '  a: 1', '```'],
    '## Options',
    '- `--to DIR|-`: where\\_to \\<write\\>',
    '## Examples',
    ...['```', 'portolan a x', '```'],
    '',
  ]);
});

test('a command lists the pages that use it, and no others', () => {
  expect(byPath.get('commands/mirror-sync.md')).toContain('](../first-mirror.md)');
  expect(byPath.get('commands/mirror-sync.md')).not.toContain('](../crd-safety.md)');
});

test('links between pages lead to pages', () => {
  const broken = pages.flatMap(({ path, text }) =>
    [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\(([^)\s#]+)/g)]
      .map(([, to = '']) => to)
      .filter((to) => !/^[a-z]+:|\.(?:png|svg)$/.test(to))
      .filter((to) => !byPath.has(posix.normalize(posix.join(posix.dirname(path), to))))
      .map((to) => `${path}: ${to}`),
  );
  expect(broken).toEqual([]);
});

test('a link to a rule leads to the page of its group; one to a source, to the sources', () => {
  expect(byPath.get('references.md')).toContain('](rules/image.md#image-digest)');
  expect(byPath.get('tekton.md')).toContain('](https://example.com/blob/main/deploy/tekton)');
});

test('the id of a rule is a link to it, but in headings, in links and in code', () => {
  const of = (text: string): string | undefined =>
    sitePages({
      sources: 'https://example.com',
      documents: new Map([
        ['docs/rules.md', documents.get('docs/rules.md') ?? ''],
        ['docs/a.md', text],
      ]),
    }).find(({ path }) => path === 'a.md')?.text;
  expect(of('See `image/digest`, `image/none`.')).toBe(
    'See [`image/digest`](rules/image.md#image-digest), `image/none`.',
  );
  const same = '# `image/digest`\n\n[`image/digest`](https://example.com)\n\n```\n`image/digest`\n```\n';
  expect(of(same)).toBe(same);
});

test('the matrix of versions says what Portolan knows of each version of OpenShift', () => {
  const rows = [
    ...(documents.get('docs/compatibility.md') ?? '').matchAll(/^\| (\d\.\d+).*\| 1\.(\d+) \| (.*) \|$/gm),
  ];
  expect(rows.length).toBeGreaterThan(10);
  for (const [, version = '', kubernetes, cells] of rows) {
    const platform = tryParseMinor(version) ?? { major: 0, minor: 0 };
    expect(kubernetesOf(platform)?.minor, version).toBe(Number(kubernetes));
    expect(cells, version).toBe(
      [
        olmOf(platform).join(', '),
        clustersAccept('csvMetadata', platform) ? '`olm.csv.metadata`' : '`olm.bundle.object`',
        clustersAccept('mirrorSets', platform) ? 'IDMS, ITMS' : 'ICSP',
        clustersAccept('clusterCatalogs', platform) ? 'ClusterCatalog' : '–',
      ].join(' | '),
    );
  }
});

describe('versions of the site', () => {
  test('before the first release, the branch is in the root', () => {
    expect(siteVersions(['', 'v1.0.0-rc.1'])).toEqual([{ name: 'main', ref: 'main', folder: '' }]);
  });

  test('the newest release of each minor version, the newest of all in the root', () => {
    expect(siteVersions(['v0.9.0', 'v0.10.1', 'v0.10.0', 'v0.10.2-rc.1', 'v0'])).toEqual([
      { name: 'v0.10', ref: 'v0.10.1', folder: '' },
      { name: 'v0.9', ref: 'v0.9.0', folder: 'v0.9/' },
      { name: 'main', ref: 'main', folder: 'main/' },
    ]);
  });

  test('old ones make room', () => {
    const tags = [...Array(9).keys()].map((minor) => `v1.${minor}.0`);
    const names = siteVersions(tags).map(({ name }) => name);
    expect(names).toEqual(['v1.8', 'v1.7', 'v1.6', 'v1.5', 'v1.4', 'v1.3', 'main']);
  });
});
