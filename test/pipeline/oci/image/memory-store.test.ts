import { expect, test } from 'vitest';
import { memoryStore } from '../../../../pipeline/oci/image/memory-store.ts';

test('keeps what was asked for last, within its bytes', async () => {
  const store = memoryStore(10);
  const four = (value: number): Uint8Array => new Uint8Array(4).fill(value);
  await store.put('a', four(1));
  await store.put('b', four(2));
  expect(await store.get('a')).toEqual(four(1));
  await store.put('c', four(3));
  expect(await store.get('b')).toBeUndefined();
  await store.put('a', four(4));
  expect([await store.get('a'), await store.get('c')]).toEqual([four(4), four(3)]);
  await store.put('large', new Uint8Array(11));
  expect(await store.get('large')).toBeUndefined();
});
