import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, load, valueRoom } from '../../../catalog/fbc/load.ts';
import { locate } from '../../../catalog/fbc/model.ts';
import { CATALOG_RULES } from '../../../catalog/rules/catalog.ts';
import { checkCatalog } from '../../../catalog/rules/check-catalog.ts';
import { sourceOf } from '../../../catalog/source.ts';

const PACKAGE = 'schema: olm.package\nname: etcd\ndefaultChannel: stable\n';

describe('load', () => {
  test('reads YAML and JSON by content, whatever a file is called', async () => {
    const { blobs, findings } = await load(
      sourceOf({
        'catalog.txt': PACKAGE,
        '.hidden/channel':
          '{"schema":"olm.channel","package":"etcd","name":"stable"}{"schema":"example.com/x"}',
      }),
    );
    expect(findings).toEqual([]);
    expect([blobs.packages, blobs.channels, blobs.others].map((list) => list.length)).toEqual([1, 1, 1]);
  });

  test.each([
    [
      'a Dockerfile beside a catalog',
      'v4.20/Dockerfile',
      'FROM x\nADD . /configs\n',
      /add the line Dockerfile to \.indexignore/,
    ],
    ['a page beside a catalog', 'v4.20/README.md', 'a: b: c\n', /add the line README\.md to \.indexignore/],
    [
      'a text that is called as blobs are',
      'v4.20/catalog.yaml',
      'FROM x\n',
      /must be a mapping with a schema/,
    ],
  ])('says how to keep opm from %s', async (_, path, text, hint) => {
    const { findings } = await load(sourceOf({ [path]: text, 'v4.20/etcd/catalog.yaml': PACKAGE }));
    expect(findings).toEqual([expect.objectContaining({ hint: expect.stringMatching(hint) })]);
    const ignored = await load(sourceOf({ [path]: text, 'v4.20/.indexignore': `${path.slice(6)}\n` }));
    expect(ignored.findings).toEqual([]);
  });

  test('walks directories in byte order, so that the order of blobs never changes', async () => {
    const paths = ['b.yaml', 'a/z.yaml', 'a.yaml', 'a-b/x.yaml', 'B.yaml'];
    const { blobs } = await load(
      sourceOf(Object.fromEntries(paths.map((path) => [path, `schema: ${path}`]))),
    );
    expect(blobs.others.map(({ schema }) => schema)).toEqual([
      'B.yaml',
      'a/z.yaml',
      'a-b/x.yaml',
      'a.yaml',
      'b.yaml',
    ]);
  });

  test('leaves out what .indexignore names', async () => {
    const { blobs, findings } = await load(
      sourceOf({
        '.indexignore': '*.md\n',
        'README.md': '# not YAML: at: all',
        'sub/.indexignore': 'x',
        'sub/x': '%',
        'c.yaml': PACKAGE,
      }),
    );
    expect(findings).toEqual([]);
    expect(blobs.packages).toHaveLength(1);
  });

  test('43: reports ignore files that cannot be matched in reasonable time, and leaves nothing out', async () => {
    const hidden = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}.yaml`, PACKAGE]));
    const { blobs, findings } = await load(sourceOf({ '.indexignore': 'f*\n'.repeat(300_000), ...hidden }));
    expect(findings).toMatchObject([{ rule: 'fbc/unreadable', location: { file: '.indexignore' } }]);
    expect(blobs.packages).toHaveLength(300);
    const { blobs: left } = await load(sourceOf({ '.indexignore': 'f*\n', ...hidden }));
    expect(left.packages).toHaveLength(0);
  });

  test('finds fields whatever the case of their keys', async () => {
    const { blobs } = await load(
      sourceOf({
        c: '{"Schema":"olm.channel","PACKAGE":"etcd","nAME":"stable","Entries":[{"NAME":"a","Replaces":"b"}]}',
      }),
    );
    expect(blobs.channels).toMatchObject([
      { package: 'etcd', name: 'stable', entries: [{ name: 'a', replaces: 'b' }] },
    ]);
  });

  test('reads a file of one object with comments or trailing commas as YAML', async () => {
    const text = '{\n  "schema": "olm.package", # a comment\n  "name": "etcd",\n}\n';
    const { blobs, findings } = await load(sourceOf({ 'c.json': text }));
    expect(findings).toEqual([]);
    expect(blobs.packages.map(({ name }) => name)).toEqual(['etcd']);
  });

  test('reads CRLF as LF', async () => {
    const { blobs, findings } = await load(
      sourceOf({
        'c.yaml': `---\r\n${PACKAGE.replaceAll('\n', '\r\n')}description: |\r\n  one\r\n  two\r\n`,
      }),
    );
    expect(findings).toEqual([]);
    expect(blobs.packages[0]?.description).toBe('one\ntwo\n');
  });

  test('goes on behind a document that cannot be read', async () => {
    const { blobs, findings } = await load(
      sourceOf({ 'c.yaml': `a: b: c\n---\n${PACKAGE}---\n- list\n---\nschema: x\n` }),
    );
    expect(findings.map(({ rule, location }) => `${location.line} ${rule}`)).toEqual([
      '1 fbc/yaml',
      '7 fbc/object',
    ]);
    expect(blobs.packages).toHaveLength(1);
    expect(blobs.others).toHaveLength(1);
  });

  test('says where a file stops being UTF-8', async () => {
    const bytes = new Uint8Array([...new TextEncoder().encode('schema: x\nname: '), 0xff, 0x0a]);
    const { findings } = await load(sourceOf({ 'c.yaml': bytes }));
    expect(findings[0]).toMatchObject({ rule: 'fbc/yaml', location: { line: 2, column: 7 } });
  });

  test('knows where every part stands: YAML on the fast road, YAML with anchors, JSON', async () => {
    const { blobs } = await load(
      sourceOf({
        'a.yaml': 'schema: olm.channel\nname: a\nentries:\n- name: x\n  skips:\n  - one\n  - two\n',
        'b.yaml': 'schema: olm.channel\nname: &n b\nentries:\n- name: *n\n  skips: [one, two]\n',
        'c.json':
          '{"schema": "olm.channel", "name": "c",\n "entries": [{"name": "x",\n   "skips": ["one", "two"]}]}',
      }),
    );
    const places = blobs.channels.map((channel) => {
      const { line, column } = locate(channel, 'entries', 0, 'skips', 1);
      return `${channel.name} ${line}:${column}`;
    });
    expect(places).toEqual(['a 7:5', 'b 5:16', 'c 3:21']);
  });
});

describe('limits', () => {
  const limits = { fileBytes: 1000, depth: 10, documents: 3 };

  test('a file that is too large is not read', async () => {
    const { findings } = await load(sourceOf({ 'c.yaml': `schema: ${'x'.repeat(1000)}` }), limits);
    expect(findings).toMatchObject([
      { rule: 'fbc/limits', message: 'the file has 1008 bytes, the limit is 1000' },
    ]);
  });

  test('deep nesting ends in a finding, in YAML as in JSON', async () => {
    const deep = '['.repeat(100) + ']'.repeat(100);
    const { findings } = await load(sourceOf({ 'a.yaml': `a: ${deep}`, 'b.json': `{"a": ${deep}}` }), limits);
    expect(findings.map(({ rule }) => rule)).toEqual(['fbc/yaml', 'fbc/json']);
  });

  test('155: plain YAML is nested as deep as the limit says', async () => {
    for (const items of [8, 9]) {
      const files = {
        'list.yaml': `schema: x\na:\n- ${'- '.repeat(items)}x\n`,
        'ending.yaml': `schema: x\na:\n- ${'- '.repeat(items)}x`,
        'object.yaml': Array.from({ length: items + 2 }, (_, i) => `${' '.repeat(i)}schema:\n`).join(''),
      };
      const { findings } = await load(sourceOf(files), limits);
      const deep = findings.filter(({ message }) => message.includes('nested deeper than 10 levels'));
      expect(deep.map(({ location }) => location.file)).toEqual(items === 8 ? [] : Object.keys(files).sort());
    }
  });

  test('documents have so many values in a file, and no more', async () => {
    const document = '---\nschema: x\na: &a [[1], [2]]\n';
    const read = async (nodes: number): Promise<string[]> => {
      const files = { 'a.yaml': document.repeat(2), 'b.yaml': document };
      const { findings } = await load(sourceOf(files), { ...limits, nodes });
      return findings.map(({ message, location }) => `${location.file}:${location.line} ${message}`);
    };
    expect(await read(18)).toEqual([]);
    expect(await read(17)).toEqual(['a.yaml:5 the files have more values than are read of them']);
  });

  test('105: values have room that grows with the files, and what follows is not read', async () => {
    const blob = (value: string, count: number): string => `schema: x\na: [${`${value}, `.repeat(count)}]\n`;
    const read = async (files: Readonly<Record<string, string>>): Promise<[number, string[]]> => {
      const room = { ...valueRoom(), left: 10 };
      const loaded = await load(sourceOf(files), { ...DEFAULT_LIMITS, room });
      const found = loaded.findings.map(({ message, location }) => `${location.file}: ${message}`);
      return [loaded.blobs.others.length, found];
    };
    const excess = 'a.yaml: the catalog has more than 1000000 values, and less than 24 bytes for each';
    expect(await read({ 'a.yaml': blob('0', 100), 'b.yaml': blob('0', 1) })).toEqual([0, [excess]]);
    // As many values, and more, of files with as many bytes as real ones have.
    const long = `"${'x'.repeat(50)}"`;
    expect(await read({ 'a.yaml': blob(long, 100), 'b.yaml': blob(long, 100) })).toEqual([2, []]);
    expect(await read({ 'a.yaml': blob(long, 100), 'b.yaml': blob('0', 200) })).toEqual([
      1,
      [excess.replace('a.yaml', 'b.yaml')],
    ]);
  });

  test('105: of a catalog that is not read to its end, rules say nothing', async () => {
    const channel = 'schema: olm.channel\npackage: p\nname: stable\nentries: [{name: p.v1}]\n';
    const files = { 'a.yaml': channel, 'b.yaml': `schema: x\na: [${'0, '.repeat(100)}]\n` };
    const rulesAt = async (left: number): Promise<string[]> => {
      const limits = { ...DEFAULT_LIMITS, room: { ...valueRoom(), left } };
      const { findings } = await checkCatalog(sourceOf(files), CATALOG_RULES, { limits });
      return findings.map(({ rule }) => rule);
    };
    expect(await rulesAt(1000)).toContain('package/unknown');
    expect(await rulesAt(10)).toEqual(['fbc/limits']);
  });

  test('documents beyond the limit are not read, and said once', async () => {
    const { blobs, findings } = await load(sourceOf({ 'c.yaml': 'schema: x\n---\n'.repeat(6) }), limits);
    expect(blobs.others).toHaveLength(3);
    expect(findings).toMatchObject([{ rule: 'fbc/limits', location: { line: 7 } }]);
  });
});
