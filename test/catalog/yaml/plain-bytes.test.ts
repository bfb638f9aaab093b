import { expect, test } from 'vitest';
import { isUsualText } from '../../../catalog/yaml/fast-text.ts';
import { isPlainBytes } from '../../../catalog/yaml/plain-bytes.ts';

test('any one byte is seen for what it is, wherever it stands', () => {
  for (let offset = 0; offset < 4; offset++) {
    for (let size = 1; size < 14; size++) {
      const memory = new Uint8Array(offset + size);
      const bytes = memory.subarray(offset);
      for (let at = 0; at < size; at++) {
        for (let byte = 0; byte < 256; byte++) {
          bytes.fill([10, 9, 32, 126][(at + byte) % 4] ?? 0);
          bytes[at] = byte;
          if (isPlainBytes(bytes) !== isPrintable(byte)) expect.fail(`${byte} at ${at} of ${size}`);
        }
      }
    }
  }
});

test('what is plain is usual text', () => {
  const ascii = Uint8Array.from({ length: 128 }, (_, byte) => byte);
  for (const byte of ascii) {
    const text = `${String.fromCharCode(byte)}\n`;
    expect(isUsualText({ text, isPlain: false })).toBe(isPlainBytes(new TextEncoder().encode(text)));
  }
});

function isPrintable(byte: number): boolean {
  return byte === 9 || byte === 10 || (byte >= 32 && byte <= 126);
}
