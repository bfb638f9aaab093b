import { expect, test } from 'vitest';
import { byteRange } from '../../../pipeline/oci/byte-range.ts';

test.each([
  ['bytes=0-9', [0, 10]],
  ['bytes=90-', [90, 100]],
  ['bytes=-10', [90, 100]],
  ['bytes=-1000', [0, 100]],
  ['bytes=99-1000', [99, 100]],
])('%s of 100 bytes', (header, expected) => {
  expect(byteRange(header, 100)).toEqual(expected);
});

test.each(['bytes=100-', 'bytes=100-200', 'bytes=-0'])('%s starts after 100 bytes', (header) => {
  expect(byteRange(header, 100)).toBe('outside');
});

test.each([undefined, 'bytes=-', 'bytes=5-2', 'bytes=0-1,3-4', 'lines=0-1'])(
  'all is sent for %s',
  (header) => {
    expect(byteRange(header, 100)).toBeUndefined();
  },
);
