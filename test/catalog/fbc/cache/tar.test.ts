import { createHash } from 'node:crypto';
import { unpackTar } from 'modern-tar';
import { describe, expect, test } from 'vitest';
import { TAR_END, type TarEntry, tarHeader, tarPadding } from '../../../../catalog/fbc/cache/tar.ts';

/** Digests of the headers that Go's archive/tar writes (go1.26, no times, no owners). */
const GO: readonly (readonly [what: string, entry: TarEntry, length: number, sha256: string])[] = [
  [
    'the root',
    { name: '.', kind: 'directory', mode: 0o755, size: 0 },
    512,
    '1f39deff8dbe70c8f7547f4f36361e3dbc8fb6f8ffcf1383192db8756a3f4615',
  ],
  [
    'a file',
    { name: 'etcd/catalog.json', kind: 'file', mode: 0o644, size: 1234567 },
    512,
    'd9184d57a2a62b528adca618679ff5692c3a976cf3833cf2d3e9bf576c9adae5',
  ],
  [
    'a name of 100 bytes',
    { name: `${'x'.repeat(100)}`, kind: 'file', mode: 0o600, size: 1 },
    512,
    'ef4cc4f67be11a7c25e40c8bcb21b3c71bc6bcfc276bd13cc32d881c8576d883',
  ],
  [
    'a name that splits',
    { name: `${'d'.repeat(120)}/${'f'.repeat(90)}`, kind: 'file', mode: 0o644, size: 0 },
    512,
    '07913862db7af1faa76c44fd9ceafb608016abec61aae1c0bfcd05adc1ee152f',
  ],
  [
    'a name too long to split',
    { name: `${'n'.repeat(101)}`, kind: 'file', mode: 0o644, size: 5 },
    1536,
    '1a7ae31dd2f651cb7341287acfebac5d9ec7e2e6c5cae0699e92398bb86c7eb2',
  ],
  [
    'a name beyond ASCII',
    { name: 'é/😀', kind: 'file', mode: 0o644, size: 5 },
    1536,
    'e873c569895420127bfd01e72f894c599628fe2e14e2ec82260e37145fadeeb8',
  ],
  [
    'a long folder',
    { name: `${'d'.repeat(99)}/${'e'.repeat(160)}`, kind: 'directory', mode: 0o750, size: 0 },
    1536,
    'bf8d67b81762e34d1217c7fd4842f61374528739af77288bc0d65ee1e13689d7',
  ],
  [
    'a record whose length has one digit more than its text',
    { name: `${'p'.repeat(989)}`, kind: 'file', mode: 0o644, size: 0 },
    2048,
    '615450bab487859507d3f116c49ddd45e29cc60f65eaa48e39a243d90e23b32d',
  ],
];

const file = (name: string, size = 1): TarEntry => ({ name, kind: 'file', mode: 0o644, size });

describe('headers of Go', () => {
  test.each(GO)('%s', (_, entry, length, sha256) => {
    const header = tarHeader(entry);
    expect(header.length).toBe(length);
    expect(createHash('sha256').update(header).digest('hex')).toBe(sha256);
  });
});

test.each([
  'a',
  'configs/etcd/catalog.json',
  'x'.repeat(100),
  `${'d'.repeat(155)}/${'f'.repeat(100)}`,
  `tmp/cache/cache/${'n'.repeat(200)}`,
  'é/😀.json',
])('another reader finds the name %s', async (name) => {
  const archive = Buffer.concat([
    tarHeader({ ...file(name), uid: 1001, gid: 0 }),
    Buffer.from('x'),
    Buffer.alloc(tarPadding(1)),
    TAR_END,
  ]);
  const [entry] = await unpackTar(archive, { strict: true });
  expect(entry?.header).toMatchObject({ name, type: 'file', size: 1, mode: 0o644, uid: 1001, gid: 0 });
  expect(Buffer.from(entry?.data ?? []).toString()).toBe('x');
});

test('what fits no header is refused, not cut', () => {
  expect(() => tarHeader(file('a', 8 ** 11))).toThrow(RangeError);
});
