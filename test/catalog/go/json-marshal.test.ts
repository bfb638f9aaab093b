import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteWriter, goString } from '../../../catalog/go/json-marshal.ts';

function quoted(bytes: Uint8Array): string {
  return new TextDecoder().decode(new ByteWriter(1).quoted(bytes).finish());
}

/** Of every width in UTF-8, and all that is escaped. */
const CHARACTERS = fc.constantFrom(...'a<>&"\\\n\b\0\x1f\x7fé߿ࠀ\u2027\u2028\u2029\u202a\ufeff\uffff😀');

test('bytes are quoted as the text that they encode', () => {
  fc.assert(
    fc.property(fc.string({ unit: CHARACTERS }), (text) => {
      const bytes = new TextEncoder().encode(text);
      expect(quoted(bytes)).toBe(goString(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)));
    }),
  );
});

test('what means something to HTML, to JavaScript or to JSON is escaped as Go escapes it', () => {
  expect(goString('<a href="x">&\\</a>\u2028\u2029\u007f\b\u0001\n')).toBe(
    '"\\u003ca href=\\"x\\"\\u003e\\u0026\\\\\\u003c/a\\u003e\\u2028\\u2029\u007f\\b\\u0001\\n"',
  );
});

test.each([
  ['a byte that begins nothing', [0x61, 0xff, 0x62], '"a\\ufffdb"'],
  ['a sequence that breaks off', [0xe2, 0x82], '"\\ufffd\\ufffd"'],
  ['half of a surrogate pair', [0xed, 0xa0, 0x80], '"\\ufffd\\ufffd\\ufffd"'],
  ['a character written too long', [0xc0, 0xaf], '"\\ufffd\\ufffd"'],
  ['more than Unicode has', [0xf4, 0x90, 0x80, 0x80], '"\\ufffd\\ufffd\\ufffd\\ufffd"'],
  ['a sequence before another character', [0xf0, 0x9f, 0x98, 0x61], '"\\ufffd\\ufffd\\ufffda"'],
])('%s becomes replacement characters, one for each byte', (_, bytes, expected) => {
  expect(quoted(Uint8Array.from(bytes))).toBe(expected);
});

test('the writer grows with what it is given', () => {
  const writer = new ByteWriter(0).text('é'.repeat(100)).quoted(new Uint8Array(1000).fill(0x3c));
  expect(writer.bytes(Uint8Array.of(1)).length).toBe(200 + 2 + 6000 + 1);
  expect(writer.finish().at(-1)).toBe(1);
});
