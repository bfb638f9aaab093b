/** Lines of the wire protocol, and what is not such lines. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pktLine, pktLines, textOf } from '../../../../pipeline/git/http/protocol.ts';

const read = (text: string): unknown[] =>
  [...pktLines(Buffer.from(text, 'latin1'))].map((line) =>
    Buffer.isBuffer(line) ? line.toString('latin1') : line,
  );

test('a line is written with its length, and read back', () => {
  expect(pktLine('command=fetch')).toBe('0012command=fetch\n');
  expect(read('0012command=fetch\n000100040006a\n0000')).toEqual([
    'command=fetch\n',
    'delimiter',
    '',
    'a\n',
    'flush',
  ]);
  expect(read('0002')).toEqual(['flush']);
});

test('what is written is read back, whatever it says', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 20 }).filter((text) => !text.endsWith('\n'))), (texts) => {
      const lines = [...pktLines(Buffer.from(texts.map(pktLine).join('')))];
      expect(lines.map((line) => textOf(line as Buffer))).toEqual(
        texts.map((text) => Buffer.from(text).toString()),
      );
    }),
  );
});

test('a line that is too long is not written', () => {
  expect(pktLine('a'.repeat(65515))).toHaveLength(65520);
  expect(() => pktLine('a'.repeat(65516))).toThrow('too long');
});

test.each([
  ['no length', 'PACKdata', '"PACK" is not the length of a line'],
  ['a length with a sign', '+00a12345', '"+00a" is not the length of a line'],
  ['half a length', '00', '"00" is not the length of a line'],
  ['the reserved length', '0003', 'the reserved length 3'],
  ['an end within a line', '0008ab', 'the answer ends within a line'],
  ['a line over the limit', `fff1${'a'.repeat(65517)}`, 'more than the protocol allows'],
])('an answer with %s is refused', (_, text, message) => {
  expect(() => read(text)).toThrow(
    expect.objectContaining({ code: 'bad-answer', message: expect.stringContaining(message) }),
  );
});
