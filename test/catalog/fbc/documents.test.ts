import { expect, test } from 'vitest';
import { type KnownDocuments, type ReadDocument, readDocuments } from '../../../catalog/fbc/documents.ts';
import { DEFAULT_LIMITS, load } from '../../../catalog/fbc/load.ts';
import type { Finding } from '../../../catalog/finding.ts';
import { sourceOf } from '../../../catalog/source.ts';

const PACKAGE = 'schema: olm.package\nname: p\ndefaultChannel: a\n';
const CHANNEL = 'schema: olm.channel\npackage: p\nname: a\nentries:\n- name: p.v1\n  skips:\n  - p.v0\n';
const BUNDLE =
  'schema: olm.bundle\nname: p.v1\nproperties:\n- type: olm.package\n  value:\n    version: 1.0.0\n';
const PATHS = [[], ['name'], ['entries', 0, 'name'], ['properties', 0, 'value', 'version'], ['nothing']];

/** Known documents, and how many were kept. */
function memory(): KnownDocuments & { readonly kept: Map<string, ReadDocument> } {
  const kept = new Map<string, ReadDocument>();
  return {
    kept,
    find: (text, read) => {
      const found = kept.get(text) ?? read();
      if (found) kept.set(text, found);
      return found;
    },
  };
}

/** What is read of a file: each document's value and places, and the findings. */
function readings(text: string, known?: KnownDocuments) {
  const findings: Finding[] = [];
  const options = { limits: DEFAULT_LIMITS, findings, known };
  const documents = [...readDocuments('f.yaml', new TextEncoder().encode(text), options)].map(
    ({ value, document }) => ({
      value,
      line: document.line,
      file: document.file,
      places: PATHS.map((path) => document.locate(path)),
      detached: PATHS.map((path) => document.detached().locate(path)),
    }),
  );
  return { documents, findings };
}

test.each([
  ['documents', [PACKAGE, CHANNEL, BUNDLE].join('---\n')],
  ['a separator first, comments and blank lines', `---\n# x\n\n${PACKAGE}--- # y\n\n\n${BUNDLE}---\n`],
  ['carriage returns', `${PACKAGE}---\n${BUNDLE}`.replaceAll('\n', '\r\n')],
  ['no line break at the end', `${PACKAGE}---\n${CHANNEL}---\nname: z`],
  ['what takes the full reader', `${PACKAGE}---\nname: &a x\nvalue: *a\n---\n${BUNDLE}`],
  [
    'flow collections',
    `{"schema": "olm.package", "name": "p"}\n--- # x\n# y\nname: p\nentries: [{name: a}]\n`,
  ],
  ['text behind the end of a document', `a: [b]\n...\nc\n---\n%YAML 1.1\n---\n...\n---\n- [d]\n`],
  ['a duplicate key', `${PACKAGE}---\nname: x\nname: y\n---\n${BUNDLE}`],
  ['a bad separator, and text that is not YAML', `${PACKAGE}---x\n${BUNDLE}---\na: [\n---\n${CHANNEL}`],
  ['JSON', '{"schema": "olm.package", "name": "p"}\n{"name": "q"}\n'],
])('a file with known documents is read as without them: %s', (_, text) => {
  const known = memory();
  const expected = readings(text);
  expect(readings(text, known)).toEqual(expected);
  expect(readings(text, known)).toEqual(expected);
  // Behind other documents, all is on later lines.
  expect(readings(`${CHANNEL}---\n${text}`, known)).toEqual(readings(`${CHANNEL}---\n${text}`));
});

test('what two versions of a file have in common is read once, and is the same value', () => {
  const known = memory();
  const before = readings(`${PACKAGE}---\n${BUNDLE}`, known).documents;
  const after = readings(`${PACKAGE}---\n${CHANNEL}---\n${BUNDLE}`, known).documents;
  expect(known.kept.size).toBe(3);
  expect(after[2]?.value).toBe(before[1]?.value);
  expect([before[1]?.line, after[2]?.line]).toEqual([5, 13]);
});

test('what takes the full reader is read once as well, without its tree', () => {
  const known = memory();
  const flow = 'schema: olm.channel\nentries: [{name: p.v1}]\n';
  const [before] = readings(flow, known).documents;
  expect(known.kept.get(flow)?.document.detached()).not.toBe(known.kept.get(flow)?.document);
  expect(readings(`${PACKAGE}---\n${flow}`, known).documents[1]?.value).toBe(before?.value);
});

test.each(['name: &a x\nvalue: *a\n', 'name: [a]\nname: b\n', 'name: [\n', 'name: [a]\n...\nb\n', ''])(
  'what has findings, or needs its tree, is not kept: %j',
  (text) => {
    const known = memory();
    readings(`${PACKAGE}---\n${text}`, known);
    expect([...known.kept.keys()]).toEqual([PACKAGE]);
  },
);

const ONE = '{"schema":"x"}';

/** A file as bytes: `<ff>` stands for the byte 0xff. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(
    text.split(/(<[0-9a-f]{2}>)/).flatMap((part) => {
      const octet = /^<([0-9a-f]{2})>$/.exec(part)?.[1];
      return octet === undefined ? [...new TextEncoder().encode(part)] : [Number.parseInt(octet, 16)];
    }),
  );
}

/** How many documents of a file have a schema, and whether opm could not read the file. */
function outcome(content: Uint8Array | Iterable<Uint8Array>) {
  const findings: Finding[] = [];
  const read = [...readDocuments('f', content, { limits: DEFAULT_LIMITS, findings })];
  const values = read.map(({ value }) => value as { readonly schema?: unknown } | null);
  const schemas = values.filter((value) => typeof value?.schema === 'string').length;
  const isRefused = findings.some(({ severity }) => severity === 'error') || schemas < values.length;
  return { schemas, isRefused };
}

// Each as opm v1.73.0 reads it: how many documents it reads of a twin.
test.each([
  ['invalid UTF-8 between tokens', '{"schema":"x",<81>"a":1}', '{"schema":"x",\n"a":1}', 1],
  ['invalid UTF-8 between tokens, not in a text', '{"schema":"x",<81>"a":1}', '{"schema":"x","a":"<81>"}', 1],
  [
    'invalid UTF-8 in YAML behind JSON',
    `${ONE}\n---\nschema: <ff>z\n`,
    '{"schema":"<ff>"}\n---\nschema: z\n',
    2,
  ],
  [
    'invalid UTF-8 far behind U+FFFD',
    `${ONE}\n---\nschema: \ufffd\n---\nschema: z<c2>\n`,
    `${ONE}\n---\nschema: \ufffd\n`,
    2,
  ],
  ['a no-break space at the end', `${ONE}\u00a0\n`, `${ONE} \n`, 1],
  ['U+0085 at the end', `${ONE}\u0085\n`, `${ONE}\r\n`, 1],
  ['a vertical tab at the end', `${ONE}\v\n`, `${ONE}\t\n`, 1],
  ['white space that is not that of JSON', `${ONE}\u3000\u2028  \n`, `${ONE}\u3000\n---\nschema: z\n`, 2],
  ['a no-break space before JSON', '\u00a0{}', `\u00a0${ONE}`, 1],
  ['a comment that is too short', `${ONE}\n#\n`, `${ONE}\n`, 1],
  ['U+FFFD behind JSON', `${ONE}\ufffd: 1\nschema: z\n`, `${ONE}a: 1\nschema: z\n`, 2],
  [
    'white space for more than the first 4096 bytes',
    `${'\u3000'.repeat(1366)}${ONE}`,
    `${'\u3000'.repeat(1364)}${ONE}`,
    1,
  ],
  [
    'a second separator behind a carriage return',
    `${ONE}---\n\n\r--- {schema: z}\n`,
    `${ONE}---\n\n\rschema: z\n`,
    2,
  ],
  ['the same in YAML alone', '---\n\n\r--- {schema: z}\n', '\n\r--- {schema: z}\n', 1],
  [
    'a directive behind a separator',
    '---\n%YAML 1.1\n\r---\nschema: z\n',
    '%YAML 1.1\n\r---\r\nschema: z\n',
    1,
  ],
  ['a comment that is none', '---# c\nschema: z\n', '--- # c\nschema: z\n', 1],
  ['a separator that is a text', '---\u00a0\nschema: z\n', 'schema: x\n---\u00a0\nschema: z\n', 2],
  [
    'a control character in the first separator',
    '--- # \x01\nschema: z\n',
    'a: 1\nschema: x\n--- # \x01\nschema: z\n',
    2,
  ],
])('67: %s is refused as opm refuses it, its harmless twin is not', (_, hostile, twin, schemas) => {
  expect(outcome(bytesOf(hostile)).isRefused).toBe(true);
  expect(outcome(bytesOf(twin))).toEqual({ schemas, isRefused: false });
});

test('67: invalid UTF-8 in a later piece of a JSON file is found', () => {
  const pieces = (text: string) => outcome([bytesOf('{"schema":"\ufffd<ff>",\n'), bytesOf(text)]);
  expect(pieces('"a":1}\n---\nschema: <ff>z\n').isRefused).toBe(true);
  expect(pieces('"a":"<ff>"}\n---\nschema: z\n')).toEqual({ schemas: 2, isRefused: false });
});

test('a document keeps its places where its separator has to be read with it', () => {
  const [first] = readings('---# c\n').documents;
  const [second] = readings('--- # c\nname: &a x\nb: *a\n').documents;
  const [third] = readings('---\n---\nname: x\n').documents;
  expect(first?.places[0]).toEqual({ file: 'f.yaml', line: 2, column: 1 });
  expect([second?.line, second?.places[1]]).toEqual([2, { file: 'f.yaml', line: 2, column: 10 }]);
  expect([third?.line, third?.places[0]]).toEqual([2, { file: 'f.yaml', line: 2, column: 1 }]);
});

test('a bundle of known documents is decoded once, and located in each file', async () => {
  const text = BUNDLE.replace('name:', 'package: p\nname:').replace(
    'version: 1.0.0',
    'packageName: p\n    version: 1.0.0',
  );
  const wrong = text.replace('p.v1', 'p.v2').replace('name: p.v2', 'image: 7\nname: p.v2');
  const known = memory();
  const loaded = await Promise.all(
    [text, `${CHANNEL}---\n${text}---\n${wrong}`, `---\n${wrong}`].map((written, i) =>
      load(sourceOf({ [`${i}.yaml`]: written }), DEFAULT_LIMITS, {}, known),
    ),
  );
  const [one, other] = loaded.map(({ blobs }) => blobs.bundles[0]);
  expect(other?.properties).toBe(one?.properties);
  expect([one, other].map((bundle) => bundle?.document.locate(['name']))).toEqual([
    { file: '0.yaml', line: 3, column: 7 },
    { file: '1.yaml', line: 11, column: 7 },
  ]);
  const places = loaded.map(({ findings }) =>
    findings.map(({ location: { file, line } }) => `${file}:${line}`),
  );
  expect(places).toEqual([[], ['1.yaml:20'], ['2.yaml:4']]);
});

test.each([
  ['YAML', (items: number) => `a:\n${'- {}\n'.repeat(items)}`, '---\n'],
  ['YAML of the full reader', (items: number) => `a: &x\n${'- {}\n'.repeat(items)}`, '---\n'],
  ['JSON', (items: number) => `{"a":[${Array.from({ length: items }, () => '{}').join(',')}]}`, '\n'],
])(
  '91: the values of all documents of a file, and of several files, have a limit: %s',
  (_, of, separator) => {
    const total = { left: 250 };
    const read = (items: readonly number[], known?: KnownDocuments): [number, string[]] => {
      const findings: Finding[] = [];
      const limits = { depth: 10, nodes: 100, total };
      const text = items.map(of).join(separator);
      const documents = [...readDocuments('f', new TextEncoder().encode(text), { limits, findings, known })];
      return [documents.length, findings.map(({ rule, location }) => `${location.line} ${rule}`)];
    };
    expect(read([50, 40])).toEqual([2, []]);
    expect([94, 96]).toContain(250 - total.left);
    expect(read([50, 50, 1], memory())).toMatchObject([1, [expect.stringMatching(/ fbc\/limits$/)]]);
    expect(read([90])).toMatchObject([0, [expect.any(String)]]);
  },
);
