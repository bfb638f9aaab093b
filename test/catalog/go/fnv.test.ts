import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyStretch, FNV_START, fnv1a, fnv64Hex, stretchTo } from '../../../catalog/go/fnv.ts';

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

test('published sums', () => {
  expect(fnv64Hex(fnv1a(ascii('')))).toBe('cbf29ce484222325');
  expect(fnv64Hex(fnv1a(ascii('a')))).toBe('af63dc4c8601ec8c');
  expect(fnv64Hex(fnv1a(ascii('foobar')))).toBe('85944171f73967e8');
});

test('equals the definition from every state', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (bytes, state) => {
      const defined = bytes.reduce(
        (hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n),
        state,
      );
      expect(fnv1a(bytes, state)).toBe(defined);
    }),
  );
});

test('a stretch does to every state that ends in its byte what its bytes do', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (bytes, state) => {
      const low = Number(state & 0xffn);
      const stretch = stretchTo(fnv1a(bytes, BigInt(low)), low, bytes.length);
      expect(applyStretch(stretch, state)).toBe(fnv1a(bytes, state));
    }),
  );
});

test('bytes may come in pieces', () => {
  const bytes = ascii('schema: olm.package');
  expect(fnv1a(bytes.subarray(7), fnv1a(bytes.subarray(0, 7), FNV_START))).toBe(fnv1a(bytes));
});
