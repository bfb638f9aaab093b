import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64, normalBase64, textWith } from '../../../catalog/go/base64.ts';

test('decodes what an encoder wrote, broken into lines or not', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(10), (bytes, width) => {
      const text = Buffer.from(bytes).toString('base64');
      const lines = text.replaceAll(new RegExp(`.{${width + 1}}`, 'g'), '$&\r\n');
      expect(Buffer.from(decodeBase64(lines))).toEqual(Buffer.from(bytes));
      expect(normalBase64(lines)).toBe(text);
    }),
  );
});

test.each([
  ['AB==', 'AA=='],
  ['ABD=', 'ABA='],
  ['', ''],
])('%s has bits that stand for nothing: an encoder writes %s', (given, normal) => {
  expect(normalBase64(given)).toBe(normal);
});

test('gives the text that has a word, as the decoder gives it, and nothing for other texts', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.string(),
      fc.boolean(),
      fc.nat(10),
      (text, more, has, width) => {
        const whole = `${text}${has ? 'Word' : ''}${more}`;
        const base64 = Buffer.from(whole).toString('base64');
        const lines = base64.replaceAll(new RegExp(`.{${width + 1}}`, 'g'), '$&\n');
        for (const written of [base64, lines, `*${base64}`]) {
          const decoded = new TextDecoder().decode(decodeBase64(written));
          expect(textWith('Word', written)).toBe(decoded.includes('Word') ? decoded : undefined);
        }
      },
    ),
  );
});
