/** Packs that git made are read as git reads them; hostile ones end in one clear error. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { type ObjectFormat, objectId, readPack } from '../../../../pipeline/git/http/pack.ts';
import { makeRepository, type TestRepository } from '../../../fakes/repository.ts';
import { runs } from '../../../fakes/runs.ts';

const LIMITS = { objects: 1000, object: 1 << 20, total: 1 << 22 };

const open: TestRepository[] = [];
afterEach(() => {
  for (const repository of open.splice(0)) repository.remove();
});
function repositoryOf(...options: readonly string[]): TestRepository {
  const repository = makeRepository(...options);
  open.push(repository);
  return repository;
}

/** A pack of everything that a repository has, as git makes it. */
function packOf(repository: TestRepository, ...options: readonly string[]): Buffer {
  const ids = repository.git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)');
  const prefix = join(repository.directory, 'made');
  const name = repository.feed(`${ids}\n`, 'pack-objects', '--quiet', ...options, prefix);
  return readFileSync(`${prefix}-${name}.pack`);
}

/** Every object of a repository: id, type, size, as git says. */
function listing(repository: TestRepository): string[] {
  const format = '--batch-check=%(objectname) %(objecttype) %(objectsize)';
  return repository.git('cat-file', '--batch-all-objects', format).split('\n');
}

function read(pack: Buffer, format: ObjectFormat = 'sha1', limits = LIMITS): string[] {
  const found = [...readPack(pack, format, limits)];
  for (const [id, { type, bytes }] of found) expect(objectId(type, bytes, format)).toBe(id);
  return found.map(([id, { type, size }]) => `${id} ${type} ${size}`).sort();
}

/** Files of which many are nearly the same, so that git makes deltas, on deltas. */
const similar = fc
  .record({
    lines: fc.array(fc.string({ minLength: 5, maxLength: 40 }), { minLength: 20, maxLength: 60 }),
    edits: fc.array(fc.record({ at: fc.nat(59), text: fc.string() }), { minLength: 1, maxLength: 12 }),
  })
  .map(({ lines, edits }) => {
    const versions = [lines];
    for (const { at, text } of edits) versions.push((versions.at(-1) ?? []).with(at % lines.length, text));
    return versions.map((version) => version.join('\n'));
  });

test.each([
  ['deltas by distance', ['--delta-base-offset']],
  ['deltas by name', ['--no-delta-base-offset']],
])('every object of a pack with %s is what git says it is', (_, options) => {
  fc.assert(
    fc.property(similar, (versions) => {
      const repository = repositoryOf();
      let last: string | undefined;
      for (const [i, text] of versions.entries())
        last = repository.commit(
          { 'a/file': text, [`b/${i}`]: `${i}` },
          last === undefined ? {} : { parents: [last] },
        );
      repository.git('tag', '--annotate', '--message=one', 'v1', last ?? '');
      const pack = packOf(repository, ...options);
      expect(read(pack)).toEqual(listing(repository).sort());
    }),
    { numRuns: 4 },
  );
});

test('deltas are really read', () => {
  const repository = repositoryOf();
  const text = Array.from({ length: 3000 }, (_, i) => `line ${i * 7919}`).join('\n');
  for (let i = 0; i < 8; i++)
    repository.feed(text.replace(`line ${7919 * i}\n`, `other ${i}\n`), 'hash-object', '-w', '--stdin');
  const pack = packOf(repository);
  expect(pack.length).toBeLessThan(text.length);
  expect(read(pack)).toEqual(listing(repository).sort());
});

test('a repository of SHA-256 has longer ids', () => {
  const repository = repositoryOf('--object-format=sha256');
  repository.feed('one', 'hash-object', '-w', '--stdin');
  repository.feed('two', 'hash-object', '-w', '--stdin');
  expect(read(packOf(repository), 'sha256')).toEqual(listing(repository).sort());
});

/** An object's head in a pack. */
function head(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest % 128);
  }
  return Buffer.from(bytes);
}

/** A number as deltas have it. */
function size(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function pack(entries: readonly Buffer[], { version = 2, count = entries.length, tail = '' } = {}): Buffer {
  const start = Buffer.alloc(12);
  start.write('PACK');
  start.writeUInt32BE(version, 4);
  start.writeUInt32BE(count, 8);
  const body = Buffer.concat([start, ...entries, Buffer.from(tail)]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

const BLOB = Buffer.from('0123456789');
const blob = Buffer.concat([head(3, BLOB.length), deflateSync(BLOB)]);
const ID = objectId('blob', BLOB, 'sha1');

/** A delta with the blob above as its base, by its id. */
function delta(...parts: readonly (Buffer | number)[]): Buffer {
  return deltaOn(ID, ...parts);
}

function deltaOn(id: string, ...parts: readonly (Buffer | number)[]): Buffer {
  const bytes = Buffer.concat(parts.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from([part]))));
  return Buffer.concat([head(7, bytes.length), Buffer.from(id, 'hex'), deflateSync(bytes)]);
}

describe('packs made by hand', () => {
  test('a delta may stand before its base, and be the base of another one', () => {
    const first = delta(size(10), size(5), 0x91, 2, 5);
    const made = objectId('blob', Buffer.from('23456'), 'sha1');
    const second = deltaOn(made, size(5), size(3), 3, Buffer.from('abc'));
    const found = readPack(pack([second, first, blob]), 'sha1', LIMITS);
    expect([...found.values()].map(({ bytes }) => bytes.toString()).sort()).toEqual([
      '0123456789',
      '23456',
      'abc',
    ]);
  });

  test('an empty pack and an empty object', () => {
    expect(read(pack([]))).toEqual([]);
    expect(read(pack([Buffer.concat([head(3, 0), deflateSync('')])]))).toHaveLength(1);
  });

  test('a copy without a size takes 65,536 bytes', () => {
    const large = Buffer.alloc(70_000, 'x');
    const base = Buffer.concat([head(3, large.length), deflateSync(large)]);
    const copying = deltaOn(objectId('blob', large, 'sha1'), size(large.length), size(65_536), 0x80);
    expect(read(pack([base, copying]))).toContain(
      `${objectId('blob', large.subarray(0, 65_536), 'sha1')} blob 65536`,
    );
  });

  const bomb = Buffer.concat([head(3, 10), deflateSync(Buffer.alloc(900_000))]);
  const far = Buffer.concat([head(6, 3), Buffer.from([0xff, 0xff, 0x7f]), deflateSync('abc')]);
  test.each<[string, Buffer, string, string]>([
    ['nothing at all', Buffer.alloc(0), 'corrupt', 'it does not begin as a pack'],
    ['another beginning', Buffer.from('HTTP'.repeat(20)), 'corrupt', 'it does not begin as a pack'],
    ['an unknown version', pack([blob], { version: 9 }), 'corrupt', 'its version is 9'],
    ['a changed byte', Buffer.from(pack([blob])).fill(0xee, 14, 15), 'corrupt', 'its checksum is wrong'],
    ['fewer objects than it says', pack([blob], { count: 2 }), 'corrupt', 'damaged pack'],
    [
      'more objects than it says',
      pack([blob, blob], { count: 1 }),
      'corrupt',
      'bytes follow its last object',
    ],
    [
      'an unknown type',
      pack([Buffer.concat([head(5, 1), deflateSync('a')])]),
      'corrupt',
      'the unknown type 5',
    ],
    ['more bytes than an object says', pack([bomb]), 'corrupt', 'cannot be decompressed'],
    [
      'fewer bytes than an object says',
      pack([Buffer.concat([head(3, 9), deflateSync('a')])]),
      'corrupt',
      'instead of 9',
    ],
    [
      'no compressed bytes',
      pack([Buffer.concat([head(3, 9), Buffer.from('plain text')])]),
      'corrupt',
      'cannot be decompressed',
    ],
    ['an end within an object', pack([blob.subarray(0, 6)]), 'corrupt', 'cannot be decompressed'],
    ['a size of too many bytes', pack([Buffer.alloc(40, 0xff)]), 'corrupt', 'too large'],
    ['a base before the pack', pack([far]), 'corrupt', 'outside of the pack'],
    [
      'a delta that is its own base',
      pack([Buffer.concat([head(6, 1), Buffer.from([0]), deflateSync('a')])]),
      'corrupt',
      'outside of the pack',
    ],
    [
      'a delta without its base',
      pack([delta(size(10), size(1), 0x90, 1)]),
      'corrupt',
      'the base of 1 deltas is not in it',
    ],
    [
      'a delta for another base',
      pack([blob, delta(size(11), size(1), 0x90, 1)]),
      'corrupt',
      'does not fit its base',
    ],
    [
      'a copy beyond the base',
      pack([blob, delta(size(10), size(5), 0x91, 8, 5)]),
      'corrupt',
      'does not fit its base',
    ],
    [
      'more than a delta promised',
      pack([blob, delta(size(10), size(3), 0x90, 5)]),
      'corrupt',
      'does not fit its base',
    ],
    [
      'less than a delta promised',
      pack([blob, delta(size(10), size(7), 0x90, 5)]),
      'corrupt',
      'does not fit its base',
    ],
    [
      'an insertion beyond the delta',
      pack([blob, delta(size(10), size(9), 9, Buffer.from('abc'))]),
      'corrupt',
      'does not fit its base',
    ],
    [
      'the reserved instruction',
      pack([blob, delta(size(10), size(1), 0)]),
      'corrupt',
      'does not fit its base',
    ],
    [
      'a delta without sizes',
      pack([blob, delta(Buffer.alloc(12, 0xff))]),
      'corrupt',
      'does not fit its base',
    ],
    ['too many objects', pack([blob], { count: 1001 }), 'too-large', '1001 objects, the limit is 1000'],
    [
      'a large object',
      pack([Buffer.concat([head(3, 2 ** 21), deflateSync('a')])]),
      'too-large',
      'an object of 2097152 bytes',
    ],
    [
      'a delta that makes a large object',
      pack([blob, delta(size(10), size(2 ** 30), 0x90, 1)]),
      'too-large',
      'an object of 1073741824 bytes',
    ],
  ])('%s', (_, bytes, code, message) => {
    expect(() => readPack(bytes, 'sha1', LIMITS)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  test('many objects that are large together', () => {
    const large = Buffer.alloc(1 << 20);
    const entry = (i: number): Buffer => {
      large.writeUInt8(i);
      return Buffer.concat([head(3, large.length), deflateSync(large)]);
    };
    const entries = [0, 1, 2, 3].map(entry);
    expect(readPack(pack(entries), 'sha1', LIMITS).size).toBe(4);
    expect(() => readPack(pack([...entries, blob]), 'sha1', LIMITS)).toThrow('more than 4194304 bytes');
  });

  test('whatever is changed in a pack, it is an error of the pipeline or the same objects', () => {
    const whole = pack([blob, delta(size(10), size(5), 0x91, 2, 5)]);
    fc.assert(
      fc.property(fc.nat(whole.length - 21), fc.nat(255), (at, value) => {
        const bytes = Buffer.from(whole.subarray(0, -20));
        bytes[at] = value;
        const changed = Buffer.concat([bytes, createHash('sha1').update(bytes).digest()]);
        try {
          read(changed);
        } catch (error) {
          expect(error).toMatchObject({ name: 'PipelineError' });
        }
      }),
      runs(500),
    );
  });
});
