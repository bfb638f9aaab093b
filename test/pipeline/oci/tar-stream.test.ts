import { describe, expect, test } from 'vitest';
import { headerOf, paddingOf, TAR_END } from '../../../pipeline/oci/registry/archive/tar.ts';
import { tarEntries } from '../../../pipeline/oci/tar-stream.ts';

interface Fields {
  readonly type?: string;
  readonly body?: string;
  /** Bytes in place of others, by offset. */
  readonly raw?: Readonly<Record<number, string>>;
  /** Whether its checksum takes bytes as signed. */
  readonly isSigned?: boolean;
}

function entry(name: string, { type = '0', body = '', raw = {}, isSigned = false }: Fields = {}): Buffer {
  const header = headerOf(name, Buffer.byteLength(body));
  header.write(type, 156, 'latin1');
  for (const [at, text] of Object.entries(raw)) header.write(text, Number(at), 'latin1');
  header.write('        ', 148);
  const bytes = isSigned ? [...new Int8Array(header)] : [...header];
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, Buffer.from(body), paddingOf(Buffer.byteLength(body))]);
}

function pax(records: Readonly<Record<string, string>>, type = 'x'): Buffer {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    const length = rest.length + String(rest.length + 2).length;
    return `${length}${rest}`;
  });
  return entry('pax', { type, body: lines.join('') });
}

const A = entry('a', { body: 'A' });
const B = entry('b', { body: 'B' });

async function read(bytes: Uint8Array, size = 700): Promise<string[]> {
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  const found: string[] = [];
  for await (const { name, kind, target, body } of tarEntries(pieces())) {
    let text = '';
    for await (const piece of body) text += Buffer.from(piece).toString();
    found.push(
      [kind === 'file' ? '' : `${kind} `, name, target && ` -> ${target}`, text && `: ${text}`].join(''),
    );
  }
  return found;
}

// What each archive has follows from Go 1.26, whose archive/tar was asked.
describe('180: an archive has what Go reads in it', () => {
  test.each<[string, readonly Buffer[], readonly string[]]>([
    ['a name in pax', [pax({ path: 'p' }), A, B], ['p: A', 'b: B']],
    [
      'a size in pax',
      [pax({ size: '1024' }), entry('a', { raw: { 124: '00000000000\0' } }), A, B],
      [`a: ${A}`, 'b: B'],
    ],
    ['an empty record', [pax({ path: '', size: '' }), A], ['a: A']],
    ['names and sizes for all', [pax({ path: 'p', size: '0', linkpath: 'l' }, 'g'), A, B], ['a: A', 'b: B']],
    ['a name for all behind one for the next', [pax({ path: 'p' }), pax({ comment: 'c' }, 'g'), A], ['a: A']],
    ['two of pax', [pax({ path: 'p' }), pax({ linkpath: 'l' }), A], ['a -> l: A']],
    [
      'a long name before pax',
      [entry('l', { type: 'L', body: 'long\0x' }), pax({ path: 'p' }), A],
      ['long: A'],
    ],
    ['a long name behind pax', [pax({ path: 'p' }), entry('l', { type: 'L', body: 'long' }), A], ['long: A']],
    [
      'an empty long name',
      [entry('l', { type: 'L', body: 'long' }), entry('l', { type: 'L', body: '\0' }), A],
      ['a: A'],
    ],
    [
      'a link with a long target',
      [entry('l', { type: 'K', body: 'long' }), entry('s', { type: '2' })],
      ['symlink s -> long'],
    ],
    [
      'a link with a size',
      [entry('s', { type: '1', raw: { 124: '00000001000\0', 157: 't' } }), B],
      ['link s -> t', 'b: B'],
    ],
    ['a prefix', [entry('a', { body: 'A', raw: { 345: 'pre' } })], ['pre/a: A']],
    [
      'times where a prefix would be',
      [entry('a', { body: 'A', raw: { 257: 'ustar  \0', 345: '00000000001\0' } })],
      ['a: A'],
    ],
    ['a binary size', [entry('a', { body: 'A', raw: { 124: '\x80\0\0\0\0\0\0\0\0\0\0\x01' } })], ['a: A']],
    ['a signed checksum', [entry('é', { body: 'A', isSigned: true })], ['é: A']],
    [
      'numbers in pax with signs',
      [pax({ size: '+1', uid: '-1', mtime: '-1.5', atime: '1.', gid: '' }), A],
      ['a: A'],
    ],
    ['wrong numbers in a header that another replaces', [pax({ uid: 'x' }), pax({ path: 'p' }), A], ['p: A']],
    ['wrong numbers for all', [pax({ uid: 'x' }, 'g'), A], ['a: A']],
    [
      'no numbers of a device in the oldest headers',
      [entry('a', { body: 'A', raw: { 257: '\0'.repeat(8), 329: '9' } })],
      ['a: A'],
    ],
    ['an old folder', [entry('d/', { type: '\0' }), A], ['directory d/', 'a: A']],
  ])('%s', async (_, entries, expected) => {
    expect(await read(Buffer.concat([...entries, TAR_END]))).toEqual(expected);
    expect(await read(Buffer.concat([...entries, TAR_END, Buffer.alloc(512)]), 11)).toEqual(expected);
  });

  test.each<[string, readonly Buffer[], string]>([
    ['an old folder with content', [entry('d/', { type: '\0', body: 'x' })], 'invalid header'],
    ['a mode that is not a number', [entry('a', { raw: { 100: '9' } })], 'invalid header'],
    ['one changed byte', [Buffer.concat([Buffer.from('b'), A.subarray(1)])], 'invalid header'],
    [
      'an old folder with a negative size',
      [entry('d/', { type: '\0', raw: { 124: '\xff'.repeat(12) } })],
      'invalid size',
    ],
    ['a negative size', [entry('a', { raw: { 124: '\xff'.repeat(12) } })], 'invalid size'],
    ['a size that is not a number', [pax({ size: '1k' }), A], 'cannot be read'],
    ['a size of more than 64 bits', [pax({ size: '9223372036854775808' }), A], 'cannot be read'],
    ['an owner that is not a number', [pax({ uid: 'x' }), A], 'cannot be read'],
    ['a time that is not a number', [pax({ mtime: '1.x' }), A], 'cannot be read'],
    ['a device that is not a number', [entry('a', { raw: { 329: '9' } })], 'invalid header'],
    ['a record that is cut off', [entry('x', { type: 'x', body: '9 path=' }), A], 'cannot be read'],
    ['a name with a zero', [pax({ path: 'a\0b' }), A], 'zero byte'],
    ["an owner's name with a zero", [pax({ uname: 'a\0b' }), A], 'zero byte'],
    ['files with holes', [entry('a', { type: 'S' })], 'holes'],
    ['files with holes, by pax', [pax({ 'GNU.sparse.major': '1' }), A], 'holes'],
  ])('not %s', async (_, entries, why) => {
    const error = { code: 'corrupt', message: expect.stringContaining(why) };
    await expect(read(Buffer.concat([...entries, TAR_END]))).rejects.toMatchObject(error);
  });

  test('not one that is cut off, or goes on behind its end', async () => {
    const whole = Buffer.concat([A, TAR_END]);
    for (const length of [0, 600, 1024, 1536]) {
      const error = { code: 'corrupt', message: expect.stringContaining('cut off') };
      await expect(read(whole.subarray(0, length))).rejects.toMatchObject(error);
    }
    await expect(read(Buffer.concat([whole, B]))).rejects.toMatchObject({ code: 'corrupt' });
  });
});

test('what is not read of a body is passed over', async () => {
  const archive = Buffer.concat([entry('a', { body: 'x'.repeat(2000) }), B, TAR_END]);
  const names: string[] = [];
  for await (const { name, body } of tarEntries(
    (async function* () {
      yield archive;
    })(),
  )) {
    names.push(name);
    for await (const _ of body) break;
  }
  expect(names).toEqual(['a', 'b']);
});
