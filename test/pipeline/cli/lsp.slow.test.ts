import { symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { dump } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type {
  CodeAction,
  CompletionItem,
  Diagnostic,
  DocumentSymbol,
  Hover,
  Location,
} from 'vscode-languageserver';
import { CatalogFolder } from '../../../pipeline/cli/lsp/catalog-folder.ts';
import { SegmentedText } from '../../../pipeline/cli/lsp/segmented-text.ts';
import { builtFile } from '../../fakes/built.ts';
import { type Editor, startEditor } from '../../fakes/editor.ts';
import { entangled } from '../../fakes/exhausting.ts';
import { folder } from '../../fakes/folder.ts';

const PROGRAM = "import './pipeline/cli/bin.ts';";

const BUNDLE = (version: string): string =>
  `---\nschema: olm.bundle\npackage: etcd\nname: etcd.v${version}\nimage: quay.io/example/etcd@sha256:${version.replaceAll('.', '').padEnd(64, '0')}\nproperties:\n- type: olm.package\n  value:\n    packageName: etcd\n    version: ${version}\nrelatedImages:\n- name: etcd\n  image: quay.io/example/etcd@sha256:${version.replaceAll('.', '').padEnd(64, '0')}\n- name: server\n  image: quay.io/example/server@sha256:${version.replaceAll('.', '').padEnd(64, '1')}\n`;

const HEAD = `schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v1.0.0
- name: etcd.v1.1.0
  replaces: etcd.v1.0.0
- name: etcd.v1.2.0
  replaces: etcd.v1.1.0
`;
const CATALOG = `${HEAD}${['1.0.0', '1.1.0', '1.2.0'].map(BUNDLE).join('')}`;

function startedEditor(): Promise<Editor> {
  return startEditor([process.execPath, builtFile(PROGRAM), 'lsp', '--stdio']);
}

/** The editor in which all tests open their files; those that end it start their own. */
let one: Editor;
beforeAll(async () => {
  one = await startedEditor();
});
afterAll(() => one.close());

/** An editor with a catalog's file, which has a path and need not be on the disk. */
async function opened(text = CATALOG, beside: Readonly<Record<string, string>> = {}) {
  const directory = folder({ 'v4.20/etcd/.keep': '', ...beside });
  const path = join(directory, 'v4.20/etcd/catalog.yaml');
  return { path, found: await one.open(path, text) };
}

/** The place of a text in another, as the protocol counts. */
function placeOf(text: string, part: string, nth = 0): { line: number; character: number } {
  const at = text.split(part, nth + 1).join(part).length;
  const before = text.slice(0, at).split('\n');
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
}

describe('a catalog', () => {
  test('45: what costs too much to find out is said at each package, beside what was found', async () => {
    const catalog = new CatalogFolder('v4.20');
    const texts = Array.from({ length: 20 }, (_, p) => entangled(p, 20));
    catalog.files.set('/c/catalog.yaml', new SegmentedText(texts.join('---\n')));
    const found = await catalog.findings();
    const unknown = found.filter(({ rule }) => rule === 'not-checked');
    expect(new Set(unknown.map((one) => one.package)).size).toBe(20);
    expect(unknown[0]?.message).toContain('cannot check dependencies in v4.20');
    expect(unknown.every(({ location }) => location.file === '/c/catalog.yaml')).toBe(true);
    expect(found.length).toBeGreaterThan(20);
  });

  test('what is wrong in documents comes first, then what is wrong in packages, then what clusters do', async () => {
    const catalog = new CatalogFolder('v4.20', 0);
    const text = CATALOG.replace('replaces: etcd.v1.0.0', 'replaces: etcd.v9.9.9').replace(
      'image: quay.io/example/etcd@sha256:120',
      'image: "" #',
    );
    catalog.files.set('/c/catalog.yaml', new SegmentedText(text));
    const early: (readonly string[])[] = [];
    const all = await catalog.findings(async (found) => void early.push(found.map(({ rule }) => rule)));
    expect(early).toEqual([['bundle/image'], ['bundle/image', 'channel/head']]);
    expect(all.map(({ rule }) => rule)).toEqual([...(early[1] ?? []), 'graph/edge-from-absent']);
  });

  test('equal documents stay two, each in its place, after edits of the first one', async () => {
    const [head, bundle] = [HEAD, BUNDLE('1.0.0')];
    const text = new SegmentedText(`${head}${bundle}${bundle}${BUNDLE('1.1.0')}`);
    const catalog = new CatalogFolder('v4.20');
    catalog.files.set('/c/catalog.yaml', text);
    const before = await catalog.findings();
    const { line } = text.at(head.split('\n').length);
    const start = { line, character: 0 };
    text.change({ range: { start, end: start }, text: '#' });
    await catalog.findings();
    text.change({ range: { start, end: { line, character: 1 } }, text: '' });
    expect(await catalog.findings(undefined, true)).toEqual(before);
    expect(new Set(text.segments.map(({ id }) => id)).size).toBe(text.segments.length);
  });

  test.each(['', '---\n'])('documents in JSON are checked, in a file that begins with %j', async (start) => {
    const text = [
      '{"schema":"olm.package","name":"p","defaultChannel":"none"}',
      '{"schema":"olm.channel","package":"p","name":"s","entries":[]}',
    ].join('\n---\n');
    const found = await one.open('/nowhere/catalogs/v4.20/p/catalog.yaml', `${start}${text}\n`);
    expect(found.map(({ code }) => code)).toContain('package/default-channel');
  });

  test('45: a file that cannot be checked says so', async () => {
    const found = await one.open('/nowhere/manifests/a.yaml', 'kind: Role\n');
    expect(found.map(({ code, message }) => [code, message])).toEqual([
      ['not-checked', expect.stringContaining('this file could not be checked: /nowhere')],
    ]);
  });

  test('findings come while typing, on their lines, and go when it is right again', async () => {
    const { path, found } = await opened();
    expect(found).toEqual([]);
    const { line, character } = placeOf(CATALOG, 'etcd.v1.1.0', 1);
    const broken = await one.edit(path, {
      from: [line, character],
      to: [line, character + 11],
      text: 'etcd.v9.9.9',
    });
    expect(broken.map(({ code }) => code)).toEqual(['channel/head', 'graph/edge-from-absent']);
    const whole = await one.edit(path, {
      from: [line, character],
      to: [line, character + 11],
      text: 'etcd.v1.1.0',
    });
    expect(whole).toEqual([]);
  });

  test('what the change of one package does to another is found once nobody types', async () => {
    const kind = '- type: olm.gvk\n  value: {group: etcd.example.com, kind: Etcd, version: v1}\n';
    const first = CATALOG.replaceAll('properties:\n', `properties:\n${kind}`);
    const other = first.replaceAll(/(name|package|packageName|replaces): etcd/g, '$1: rival');
    const text = `${first}---\n${other}`;
    const { path, found } = await opened(text);
    const takeovers = (all: readonly Diagnostic[]): number =>
      all.filter(({ code }) => code === 'graph/gvk-takeover').length;
    expect(takeovers(found)).toBe(1);
    const at = placeOf(text, 'etcd.example.com', 5);
    const place = [at.line, at.character] as const;
    const edited = await one.edit(path, { from: place, to: place, text: 'x' });
    // Until then the other package has what was found before.
    expect(takeovers(edited)).toBe(1);
    const { href: uri } = pathToFileURL(path);
    const last = () => one.published.findLast((found) => found.uri === uri)?.diagnostics ?? edited;
    await vi.waitFor(() => expect(takeovers(last())).toBe(0), 20_000);
  });

  test('lines stay right when lines before them come and go', async () => {
    const wrong = CATALOG.replace('image: quay.io/example/etcd@sha256:120', 'image: "" #');
    const { path, found } = await opened(wrong);
    const { line } = placeOf(wrong, 'image: ""');
    expect(found.map(({ range }) => range.start.line)).toContain(line);
    const after = await one.edit(path, { from: [0, 0], to: [0, 0], text: '# one\n# two\n' });
    expect(after.map(({ range, code }) => [range.start.line, code])).toEqual(
      found.map(({ range, code }) => [range.start.line + 2, code]),
    );
    const gone = await one.edit(path, { from: [0, 0], to: [2, 0], text: '' });
    expect(gone).toEqual(found);
  });

  test('a separator that goes and comes back joins and parts documents', async () => {
    const { path } = await opened();
    const { line } = placeOf(CATALOG, '---');
    const joined = await one.edit(path, { from: [line, 0], to: [line + 1, 0], text: '' });
    expect(joined.length).toBeGreaterThan(0);
    expect(await one.edit(path, { from: [line, 0], to: [line, 0], text: '---\n' })).toEqual([]);
  });

  test('a hover says who upgrades to a version and what comes next, under both OLM versions', async () => {
    const { path } = await opened();
    const position = placeOf(CATALOG, 'etcd.v1.1.0');
    const hover = await one.request<Hover>('textDocument/hover', path, { position });
    expect(JSON.stringify(hover.contents)).toContain(
      'OLM v0, channel stable: 1.0.0 upgrade to it; the next upgrade is 1.2.0',
    );
    expect(JSON.stringify(hover.contents)).toContain(
      'OLM v1, channel stable: 1.0.0 upgrade to it; the next upgrade is 1.2.0',
    );
    const nothing = await one.request<Hover | null>('textDocument/hover', path, {
      position: placeOf(CATALOG, 'olm.package'),
    });
    expect(nothing).toBeNull();
  });

  test('a definition is the replaced entry, or the bundle', async () => {
    const { path } = await opened();
    const at = async (position: object): Promise<number | undefined> =>
      (await one.request<Location | null>('textDocument/definition', path, { position }))?.range.start.line;
    expect(await at(placeOf(CATALOG, 'etcd.v1.0.0', 1))).toBe(placeOf(CATALOG, '- name: etcd.v1.0.0').line);
    expect(await at(placeOf(CATALOG, 'etcd.v1.0.0'))).toBe(placeOf(CATALOG, 'name: etcd.v1.0.0', 1).line);
    expect(await at(placeOf(CATALOG, 'stable'))).toBe(placeOf(CATALOG, 'name: stable').line);
  });

  test('names of bundles and channels complete where they belong', async () => {
    const { path } = await opened();
    const labels = async (position: object): Promise<string[]> =>
      (await one.request<CompletionItem[]>('textDocument/completion', path, { position })).map(
        ({ label }) => label,
      );
    const bundles = ['etcd.v1.0.0', 'etcd.v1.1.0', 'etcd.v1.2.0'];
    expect(await labels(placeOf(CATALOG, 'etcd.v1.1.0', 1))).toEqual(bundles);
    expect(await labels(placeOf(CATALOG, 'stable'))).toEqual(['stable']);
    expect(await labels(placeOf(CATALOG, 'quay.io'))).toEqual([]);
  });

  test('the outline has packages, channels with their entries, and bundles', async () => {
    const { path } = await opened();
    const [etcd, ...more] = await one.request<DocumentSymbol[]>('textDocument/documentSymbol', path);
    expect(more).toEqual([]);
    expect(etcd?.children?.map(({ name }) => name)).toEqual([
      'stable',
      'etcd.v1.0.0',
      'etcd.v1.1.0',
      'etcd.v1.2.0',
    ]);
    expect(etcd?.children?.[0]?.children?.map(({ detail }) => detail)).toEqual([
      '',
      'replaces etcd.v1.0.0',
      'replaces etcd.v1.1.0',
    ]);
  });

  test('a part of the outline contains its own parts, in one line too', async () => {
    const blobs = [
      { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
      { schema: 'olm.channel', package: 'etcd', name: 'stable', entries: [{ name: 'etcd.v1.0.0' }] },
    ];
    const path = join(folder({ 'v4.20/etcd/.keep': '' }), 'v4.20/etcd/catalog.json');
    await one.open(path, blobs.map((blob) => JSON.stringify(blob)).join(' '));
    const [etcd] = await one.request<DocumentSymbol[]>('textDocument/documentSymbol', path);
    const entry = etcd?.children?.[0]?.children?.[0];
    expect(entry?.range.end.character).toBeGreaterThan(0);
    expect(etcd?.range.end).toEqual(entry?.range.end);
  });

  test('a fix is a code action that leaves no finding', async () => {
    const text = CATALOG.replace('defaultChannel: stable', 'defaultChannel: stabel');
    const { path, found } = await opened(text);
    const [wrong] = found;
    const actions = await one.request<CodeAction[]>('textDocument/codeAction', path, {
      range: wrong?.range,
      context: { diagnostics: found },
    });
    const [[change] = []] = Object.values(actions[0]?.edit?.changes ?? {});
    expect(change?.newText).toBe('defaultChannel: stable');
    const { start, end } = change?.range ?? {
      start: { line: 0, character: 0 },
      end: { line: 0, character: 0 },
    };
    const after = await one.edit(path, {
      from: [start.line, start.character],
      to: [end.line, end.character],
      text: change?.newText ?? '',
    });
    expect(after).toEqual([]);
  });

  test('70: a link out of the folder is not a file beside it', async () => {
    const elsewhere = folder({ 'secret.yaml': BUNDLE('7.7.7') });
    const directory = folder({ 'v4.20/etcd/.keep': '' });
    symlinkSync(join(elsewhere, 'secret.yaml'), join(directory, 'v4.20/etcd/secret.yaml'));
    const path = join(directory, 'v4.20/etcd/catalog.yaml');
    const text = HEAD + BUNDLE('1.0.0');
    await one.open(path, text);
    const position = placeOf(text, 'etcd.v1.0.0\n', 1);
    const offered = await one.request<CompletionItem[]>('textDocument/completion', path, { position });
    expect(offered.map(({ label }) => label)).toContain('etcd.v1.0.0');
    expect(offered.map(({ label }) => label)).not.toContain('etcd.v7.7.7');
  });

  test('files beside it are part of the package', async () => {
    const bundles = ['1.0.0', '1.1.0', '1.2.0'].map(BUNDLE).join('').slice(4);
    const { found } = await opened(HEAD, { 'v4.20/etcd/bundles.yaml': bundles });
    expect(found).toEqual([]);
    const { found: alone } = await opened(HEAD);
    expect(alone.map(({ code }) => code)).toContain('entry/no-bundle');
  });

  test('a file that begins empty is part of the catalog once it has blobs', async () => {
    const bundles = ['1.0.0', '1.1.0', '1.2.0'].map(BUNDLE).join('').slice(4);
    const { path, found } = await opened('', { 'v4.20/etcd/bundles.yaml': bundles });
    expect(found).toEqual([]);
    const text = HEAD.replace('- name: etcd.v1.2.0\n', '- name: etcd.v1.3.0\n');
    const broken = await one.edit(path, { from: [0, 0], to: [0, 0], text });
    expect(broken.map(({ code }) => code)).toContain('entry/no-bundle');
  });

  test('what .indexignore leaves out is not in the catalog', async () => {
    const { path, found } = await opened(CATALOG, {
      'v4.20/etcd/.indexignore': 'old.*\n',
      'v4.20/etcd/old.yaml': BUNDLE('1.2.0'),
    });
    expect(found).toEqual([]);
    expect(await one.open(join(dirname(path), 'old.json'), CATALOG)).toEqual([]);
  });

  test('what is not saved is gone when its file is closed', async () => {
    const bundles = ['1.0.0', '1.1.0', '1.2.0'].map(BUNDLE).join('').slice(4);
    const { path, found } = await opened(HEAD, { 'v4.20/etcd/bundles.yaml': bundles });
    expect(found).toEqual([]);
    const beside = join(dirname(path), 'bundles.yaml');
    await one.open(beside, bundles.replaceAll('1.2.0', '1.3.0'));
    const codes = () => {
      const { href } = pathToFileURL(path);
      return one.published.findLast(({ uri }) => uri === href)?.diagnostics.map(({ code }) => code);
    };
    expect(codes()).toContain('entry/no-bundle');
    const textDocument = { uri: pathToFileURL(beside).href };
    await one.connection.sendNotification('textDocument/didClose', { textDocument });
    await one.request('textDocument/hover', path, { position: { line: 0, character: 0 } });
    expect(codes()).toEqual([]);
  });

  test('what something else changes on the disk counts, but for files that are open', async () => {
    const bundles = ['1.0.0', '1.1.0', '1.2.0'].map(BUNDLE).join('').slice(4);
    const { path, found } = await opened(HEAD, { 'v4.20/etcd/bundles.yaml': bundles });
    expect(found).toEqual([]);
    const [beside, ignore] = ['bundles.yaml', '.indexignore'].map((name) => join(dirname(path), name));
    const codesAfter = async (file = '', text = '') => {
      writeFileSync(file, text);
      return (await one.changed([file], path)).map(({ code }) => code);
    };
    expect(await codesAfter(beside, bundles.replaceAll('1.2.0', '1.3.0'))).toContain('entry/no-bundle');
    expect(await codesAfter(beside, bundles)).toEqual([]);
    expect(await codesAfter(ignore, 'bundles.*\n')).toContain('entry/no-bundle');
    expect(await codesAfter(ignore, '')).toEqual([]);
    expect(await codesAfter(path, 'schema: olm.package\n')).toEqual([]);
  });
});

test.each([
  ['the policy', '.github/portolan.yaml', 'apiVersion: portolan/v1alpha1\nkind: Portolan\nspelling: 1\n'],
  ['a template', 'etcd/template.yaml', 'schema: olm.semver\nstable: {bundles: 1}\n'],
  [
    'an ImageSetConfiguration',
    'isc.yaml',
    'apiVersion: mirror.openshift.io/v2alpha1\nkind: ImageSetConfiguration\nmirror: {operators: 1}\n',
  ],
  ['a release', 'operators/etcd/1.0.0/release-config.yaml', 'catalog_templates: []\n'],
])('%s has findings, too', async (_, name, text) => {
  const path = join(folder(), name);
  expect((await one.open(path, text)).length).toBeGreaterThan(0);
  expect(await one.open(join(folder(), 'notes.yaml'), text.replace(/.*/s, 'a: 1\n'))).toEqual([]);
});

test('a template with the schemas of blobs in front is a template', async () => {
  const entries = [
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'stable', entries: [{ name: 'etcd.v1.0.0' }] },
    { schema: 'olm.bundle', image: 'quay.io/example/etcd:v1' },
  ];
  const text = (more: object): string => JSON.stringify({ schema: 'olm.template.basic', entries, ...more });
  const path = join(folder(), 'etcd/template.json');
  expect(await one.open(path, text({}))).toEqual([]);
  const found = await one.open(join(folder(), 'template.json'), text({ entries: [...entries, 1] }));
  expect(found.map(({ code }) => code)).toEqual(['fbc/object']);
});

test('a ClusterServiceVersion has the findings of its file', async () => {
  const directory = folder({ 'etcd/manifests/.keep': '' });
  const path = join(directory, 'etcd/manifests/etcd.clusterserviceversion.yaml');
  const csv = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: { name: 'etcd' },
    spec: {},
  };
  writeFileSync(path, dump(csv));
  const found = await one.open(path, dump(csv));
  expect(found.map(({ code }) => String(code).split('/')[0])).toContain('csv');
});

test('a session exits with 0 after a shutdown, and with 1 without', async () => {
  expect(await (await startedEditor()).close()).toBe(0);
  const other = await startedEditor();
  await other.connection.sendNotification('exit');
  expect(await other.ended).toBe(1);
});

test('any edit leaves the text that the editor has', () => {
  const random = (most: number, seed: number): number => (Math.abs(Math.sin(seed) * 10_000) % most) | 0;
  let text = CATALOG;
  const segmented = new SegmentedText(text);
  for (let i = 0; i < 400; i++) {
    const [a, b] = [random(text.length + 1, i * 3 + 1), random(text.length + 1, i * 7 + 2)].sort(
      (x, y) => x - y,
    );
    const end = Math.min(b ?? 0, (a ?? 0) + random(40, i + 5));
    const [from, to] = [a ?? 0, end];
    const piece = ['', '---\n', '\n', 'x', '---', '\r\n', '-'][random(7, i * 11)] ?? '';
    const at = (offset: number) => {
      const before = text.slice(0, offset).split('\n');
      return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
    };
    segmented.change({ range: { start: at(from), end: at(to) }, text: piece });
    text = text.slice(0, from) + piece + text.slice(to);
    expect(segmented.text).toBe(text);
    expect(segmented.segments.length).toBe(new SegmentedText(text).segments.length);
  }
});
