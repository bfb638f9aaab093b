import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64, normalBase64 } from '../../../catalog/go/base64.ts';

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
