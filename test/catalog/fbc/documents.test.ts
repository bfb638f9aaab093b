import { expect, test } from 'vitest';
import { type KnownDocuments, type ReadDocument, readDocuments } from '../../../catalog/fbc/documents.ts';
import { DEFAULT_LIMITS } from '../../../catalog/fbc/load.ts';
import type { Finding } from '../../../catalog/finding.ts';

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
