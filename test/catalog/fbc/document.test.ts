import { expect, test } from 'vitest';
import { MarkedDocument } from '../../../catalog/fbc/document.ts';

test('66: the keys of a large object are listed a few times, however many of them are looked for', () => {
  const keys = Array.from({ length: 1000 }, (_, i) => `k${i}`);
  let listings = 0;
  const value = new Proxy(Object.fromEntries(keys.map((key) => [key, key])), {
    ownKeys(target) {
      listings++;
      return Reflect.ownKeys(target);
    },
  });
  const marks = Int32Array.from([value, ...keys].flatMap((_, line) => [line + 1, 1]));
  const document = new MarkedDocument('f.yaml', value, marks);
  const lines = keys.map((key) => document.locate([key]).line);
  expect(lines).toEqual(keys.map((_, i) => i + 2));
  // Each of the first keys is counted to, then all are counted once.
  expect(listings).toBeLessThan(50);
});
