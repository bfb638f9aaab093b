import { describe, expect, test, vi } from 'vitest';
import { hasEscapedSurrogates, isJsonAlone, readManifestFile } from '../../../catalog/bundle/manifest.ts';

/** Bytes of a text in which `?` stands for a byte that is not UTF-8. */
function latin1(text: string): Uint8Array {
  return Uint8Array.from(new TextEncoder().encode(text), (byte) => (byte === 0x3f ? 0xe9 : byte));
}

function read(bytes: Uint8Array): unknown[] {
  return readManifestFile('manifests/a.yaml', bytes).documents.map((document) =>
    document.kind === 'value'
      ? document.value
      : `${document.location.line}:${document.location.column} ${document.message}`,
  );
}

describe('bytes that are not UTF-8', () => {
  test('YAML cannot be read, and the place of the byte is known', () => {
    expect(read(latin1('kind: A\nname: caf?\n'))).toEqual(['2:10 the text is not UTF-8']);
    expect(read(latin1('# caf?\nkind: A\n'))).toEqual(['1:6 the text is not UTF-8']);
    expect(read(latin1('kind: A\r\nname: caf?\r\n'))).toEqual(['2:10 the text is not UTF-8']);
  });

  test('the other documents of the file are read', () => {
    expect(read(latin1('kind: A\n---\nkind: ?\n---\nkind: C\n'))).toEqual([
      { kind: 'A' },
      '3:7 the text is not UTF-8',
      { kind: 'C' },
    ]);
  });

  test('JSON is read with U+FFFD in their place, as Go does', () => {
    expect(read(latin1('{"kind": "caf?"}'))).toEqual([{ kind: 'caf\ufffd' }]);
    expect(read(latin1('{"kind": ?}'))).toEqual([
      "1:10 not JSON: invalid character '\ufffd' looking for beginning of value",
    ]);
  });

  test('text beyond ASCII, also U+FFFD itself, is sound', () => {
    const text = 'é \u{10000} \u{1f600} \ufffd \u{10ffff}';
    expect(read(new TextEncoder().encode(`kind: ${text}\n`))).toEqual([{ kind: text }]);
    expect(read(new TextEncoder().encode(`{"kind": "${text}"}`))).toEqual([{ kind: text }]);
  });
});

test('documents behind JSON with a large integer are read, too, and the integer is exact', () => {
  const text = '{"kind": "A", "n": 9007199254740993}\n{"kind": "B"}\n{"kind": "C"}\n';
  expect(read(new TextEncoder().encode(text))).toEqual([
    { kind: 'A', n: 9007199254740993n },
    { kind: 'B' },
    { kind: 'C' },
  ]);
  const broken = '{"kind": "A", "n": 9007199254740993}\n---\n{"kind": "B"}\n';
  expect(read(new TextEncoder().encode(broken))).toMatchObject([
    { kind: 'A' },
    expect.stringContaining('not JSON'),
  ]);
});

test('the end of the first document is looked for once, however many follow', () => {
  const charAt = vi.spyOn(String.prototype, 'charAt');
  try {
    const lookedAt = (documents: number): number => {
      charAt.mockClear();
      const text = `{"a": [${'1,'.repeat(1000)}1]}\n${'{}\n'.repeat(documents)}`;
      expect(read(new TextEncoder().encode(text))).toHaveLength(documents + 1);
      return charAt.mock.calls.length;
    };
    expect(lookedAt(100)).toBeLessThan(lookedAt(1) + 1000);
  } finally {
    charAt.mockRestore();
  }
});

test('JSON is read as YAML once, however many rules ask', () => {
  const file = readManifestFile('manifests/a.yaml', new TextEncoder().encode('{"kind": "\\ud83d\\ude00"}'));
  let reads = 0;
  const documents = file.documents.map((document) =>
    document.kind === 'value' ? { ...document, tree: () => void reads++ } : document,
  );
  const counted = { ...file, documents };
  expect([isJsonAlone(counted), isJsonAlone(counted), hasEscapedSurrogates(counted)]).toEqual([
    true,
    true,
    true,
  ]);
  expect(reads).toBe(1);
});
