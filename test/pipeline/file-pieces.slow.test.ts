import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readDocuments } from '../../catalog/fbc/documents.ts';
import { DEFAULT_LIMITS, load } from '../../catalog/fbc/load.ts';
import {
  DocumentTooLarge,
  type FilePieces,
  LARGEST_DOCUMENT,
  sourceOf,
  type TextPiece,
} from '../../catalog/source.ts';
import { filePieces } from '../../pipeline/directory.ts';
import { mentionsAny, piecesIn, piecesOf } from '../../pipeline/file-pieces.ts';
import { Random } from '../fuzz/yaml-documents.ts';

const folder = mkdtempSync(join(tmpdir(), 'portolan-pieces-'));
afterAll(() => rmSync(folder, { recursive: true }));

const LINES = [
  '---',
  '---',
  '--- # c',
  '---x',
  'a: 1',
  'b: |',
  '  text',
  '# c',
  '',
  '-- -',
  'é: 1',
  '{"a": 1}',
  '\ufeff',
];

test('a file in pieces holds the documents that it holds as a whole, in the same places', () => {
  const random = new Random(7);
  const path = join(folder, 'file.yaml');
  for (let run = 0; run < 400; run++) {
    const text = Array.from({ length: random.below(14) }, () => LINES[random.below(LINES.length)]);
    const bytes = Buffer.from(
      text.join(random.below(8) === 0 ? '\r\n' : '\n') + (random.below(2) === 0 ? '\n' : ''),
    );
    if (random.below(10) === 0 && bytes.length > 0) bytes[random.below(bytes.length)] = 0xff;
    writeFileSync(path, bytes);
    const pieces = piecesOf(path, 8 + random.below(40));
    expect(read(pieces), JSON.stringify(bytes.toString())).toEqual(read(new Uint8Array(bytes)));
  }
});

test('pieces are not larger than the window, if no document is', () => {
  const path = join(folder, 'many.yaml');
  writeFileSync(path, 'a: 1\n---\n'.repeat(1000));
  const sizes = [...piecesOf(path, 100)].map((piece) => textOf(piece).length);
  expect(filePieces(path).size).toBe(9000);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(9000);
});

test('a document larger than the window is one piece', () => {
  const path = join(folder, 'large.yaml');
  writeFileSync(path, `a: ${'x'.repeat(1000)}\n---\nb: 1\n`);
  expect([...piecesOf(path, 50)].map(textOf).join('')).toHaveLength(1013);
});

describe('80: a document that is too large', () => {
  test('is not read to its end', () => {
    let read = 0;
    const endless = (buffer: Buffer): number => {
      read += buffer.fill('x').length;
      expect(read).toBeLessThan(4 * LARGEST_DOCUMENT);
      return buffer.length;
    };
    expect(() => [...piecesIn(endless, 10 ** 9)]).toThrow(DocumentTooLarge);
    // Only the beginning of a file says that it is JSON.
    let isFirst = true;
    const behind = (buffer: Buffer): number => {
      const start = isFirst ? buffer.write('a: 1\n---\n{') : 0;
      isFirst = false;
      return start + endless(buffer.subarray(start));
    };
    read = 0;
    expect(() => [...piecesIn(behind, 10 ** 9)]).toThrow(DocumentTooLarge);
    for (const start of ['{"a": "\\\\\\"', '{"a": "\\\\", x', '[', '"']) {
      read = 0;
      let offset = 0;
      const json = (buffer: Buffer): number => {
        const size = endless(buffer);
        if (offset === 0) buffer.write(`{"a": "}"}\n${start}`);
        offset += size;
        return size;
      };
      expect(() => [...piecesIn(json, 10 ** 9)]).toThrow(new DocumentTooLarge(1));
    }
  });

  test('is not seen where JSON is large by its many documents, or goes on as YAML', () => {
    const path = join(folder, 'many.json');
    const value = `{"a": "\\"${'['.repeat(4_000_000)}", "b": [1]}\n`;
    const half = 'x: "\n'.repeat(1_000_000);
    for (const text of [value.repeat(6), `{}\n---\n{ "\n---\n${half}---\n${half}`]) {
      writeFileSync(path, text);
      expect([...piecesOf(path)].reduce((sum, piece) => sum + textOf(piece).length, 0)).toBe(text.length);
    }
  });

  test('is a finding, and the documents before it are read', async () => {
    const path = join(folder, 'huge.yaml');
    const file = { path: 'f', read: () => new Uint8Array(), readPieces: () => filePieces(path) };
    for (const [document, line] of [
      [`# ${'x'.repeat(LARGEST_DOCUMENT)}\n`, 3],
      [`${'\n'.repeat(LARGEST_DOCUMENT)} a: 1`, 3],
    ] as const) {
      writeFileSync(path, `schema: x\n---\n${document}`);
      const { blobs, findings } = await load({ files: async () => [file] });
      expect(blobs.others).toHaveLength(1);
      expect(findings).toMatchObject([{ rule: 'fbc/limits', location: { line } }]);
    }
  });

  test('is a finding in JSON, and where a source has no pieces', async () => {
    const text = 'x'.repeat(LARGEST_DOCUMENT);
    const files = {
      'a.json': `{"schema":"x"}\n{"schema":"y","a":"${text}"}`,
      'b.yaml': `schema: x\n---\na: ${text}`,
    };
    const { blobs, findings } = await load(sourceOf(files));
    expect(blobs.others).toHaveLength(2);
    expect(findings.map(({ rule, location }) => `${location.file}:${location.line} ${rule}`)).toEqual([
      'a.json:1 fbc/limits',
      'b.yaml:3 fbc/limits',
    ]);
  });
});

test('a file that cannot be read is said to be so', () => {
  expect(() => filePieces(join(folder, 'nothing.yaml'))).toThrow(/nothing.yaml: no such file/);
});

function read(content: Uint8Array | FilePieces['pieces']): unknown {
  const findings: { readonly message: string }[] = [];
  const documents = [...readDocuments('f', content, { limits: DEFAULT_LIMITS, findings: findings as never })];
  return {
    documents: documents.map(({ value, document }) => ({
      value,
      place: document.locate(['a']),
      line: document.line,
    })),
    findings: findings.map((finding) => JSON.stringify(finding)).sort(),
  };
}

function textOf(piece: TextPiece | Uint8Array): string {
  return piece instanceof Uint8Array ? new TextDecoder('latin1').decode(piece) : piece.text;
}

test.each([
  ['plain', 'package: etcd\n', true],
  ['an escape of YAML', 'package: "\\x65tcd"\n', true],
  ['a long escape of YAML', 'package: "e\\U00000074cd"\n', true],
  ['an escape of JSON', '{"package": "etc\\u0064"}', true],
  ['a dash as an escape', 'package: "my\\u002dapp"\n', true],
  ['a line that goes on', 'package: "et\\\n  cd"\n', true],
  ['other escapes', '{"package": "quay", "text": "\\u003cb\\u003e \\n \\x41"}', false],
  ['none', 'package: quay\n', false],
])('a name in a file: %s', (_, text, expected) => {
  expect(mentionsAny(new TextEncoder().encode(text), ['etcd', 'my-app'])).toBe(expected);
});
