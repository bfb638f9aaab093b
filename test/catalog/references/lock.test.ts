import { expect, test } from 'vitest';
import { formatLock, InvalidLock, readLock } from '../../../catalog/references/lock.ts';

const A = `sha256:${'a'.repeat(64)}`;
const HEAD = '"apiVersion": "portolan/v1alpha1", "kind": "ReferenceLock"';

test('a lock is read as it was written, a tag a line, in byte order', () => {
  const lock = {
    digests: new Map(
      [
        ['quay.io/b:v1', A],
        ['quay.io/B2/a:v1', A],
      ].map(([k = '', v = '']) => [k.toLowerCase(), v]),
    ),
  };
  const text = formatLock(lock);
  expect(text.split('\n').filter((line) => line.includes('sha256'))).toEqual([
    `    "quay.io/b2/a:v1": "${A}",`.replace('b2', 'b2'),
    `    "quay.io/b:v1": "${A}"`,
  ]);
  expect(new Map(readLock(text).digests)).toEqual(new Map([...lock.digests].sort()));
});

test.each([
  ['', 'it is not valid JSON'],
  ['[]', 'it must be an object with apiVersion'],
  [`{${HEAD}}`, 'references must be an object'],
  [`{${HEAD}, "references": {"quay.io/a:v1": 1}}`, 'references["quay.io/a:v1"] has no digest'],
  [
    `{${HEAD}, "references": {"quay.io/a:v1": "sha256:0"}}`,
    'references["quay.io/a:v1"]: invalid checksum digest length',
  ],
  [`{${HEAD}, "references": {"quay.io/a@${A}": "${A}"}}`, 'is not a valid tag'],
  [
    `{${HEAD}, "references": {"Quay.io/A:v1": "${A}"}}`,
    'references["Quay.io/A:v1"]: invalid reference format',
  ],
])('%s is no lock', (text, message) => {
  expect(() => readLock(text)).toThrow(InvalidLock);
  expect(() => readLock(text)).toThrow(message);
});
