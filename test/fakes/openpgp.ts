/** OpenPGP keys and signed messages, as small as they can be: version 4, RSA, SHA-256. */
import { createHash, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';

export interface PgpKey {
  /** The public key, armored. */
  readonly armored: string;
  /** The same key as a subkey of nobody: without its armor. */
  readonly asSubkey: Buffer;
  /** Signs a text: a compressed message, as gpg writes it. */
  sign(text: string, options?: Partial<Omit<Signing, 'privateKey' | 'id'>>): Buffer;
}

export function pgpKey(): PgpKey {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const numbers = [n, e].map((text) => number(Buffer.from(text, 'base64url')));
  const body = Buffer.concat([Buffer.from([4, 0, 0, 0, 1, 1]), ...numbers]);
  const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff]);
  const id = createHash('sha1').update(head).update(body).digest().subarray(-8);
  const lines = packet(6, body)
    .toString('base64')
    .replaceAll(/(.{64})/g, '$1\n');
  const armored = `-----BEGIN PGP PUBLIC KEY BLOCK-----\nComment: made for a test\n\n${lines}\n=AAAA\n-----END PGP PUBLIC KEY BLOCK-----\n`;
  return {
    armored,
    asSubkey: packet(14, body),
    sign: (text, { created = 1_700_000_000, lifetime = 0, notes = [] } = {}) =>
      signed(Buffer.from(text), { privateKey, id, created, lifetime, notes }),
  };
}

interface Signing {
  readonly privateKey: KeyObject;
  readonly id: Buffer;
  readonly created: number;
  readonly lifetime: number;
  /** Bytes of further subpackets, which are not signed. */
  readonly notes: readonly number[];
}

function signed(data: Buffer, { privateKey, id, created, lifetime, notes }: Signing): Buffer {
  const subpackets = Buffer.concat([
    subpacket(2, seconds(created)),
    ...(lifetime > 0 ? [subpacket(3, seconds(lifetime))] : []),
  ]);
  const hashed = Buffer.concat([Buffer.from([4, 0, 1, 8, 0, subpackets.length]), subpackets]);
  const trailer = Buffer.from([4, 0xff, 0, 0, 0, hashed.length]);
  const value = createSign('sha256').update(data).update(hashed).update(trailer).sign(privateKey);
  const unhashed = Buffer.concat([
    ...notes.map((bytes) => subpacket(20, Buffer.alloc(bytes))),
    subpacket(16, id),
  ]);
  const signature = Buffer.concat([
    hashed,
    Buffer.from([unhashed.length >> 8, unhashed.length & 0xff]),
    unhashed,
    Buffer.from([0, 0]),
    number(value),
  ]);
  const literal = Buffer.concat([Buffer.from('b\x01a\0\0\0\0', 'latin1'), data]);
  const message = Buffer.concat([packet(11, literal), packet(2, signature)]);
  return Buffer.concat([Buffer.from([0xa3, 1]), deflateRawSync(message)]);
}

/** A packet of the old format with a length of two bytes. */
function packet(tag: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x81 | (tag << 2), body.length >> 8, body.length & 0xff]), body]);
}

/** With a length of one byte, or of two from 192 on. */
function subpacket(kind: number, body: Buffer): Buffer {
  const length = body.length + 1;
  const more = length - 192;
  const head = more < 0 ? [length] : [(more >> 8) + 192, more & 0xff];
  return Buffer.concat([Buffer.from([...head, kind]), body]);
}

function seconds(count: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(count);
  return bytes;
}

function number(written: Buffer): Buffer {
  const bytes = written.subarray(
    Math.max(
      0,
      written.findIndex((byte) => byte !== 0),
    ),
  );
  const bits = bytes.length * 8 - Math.clz32(bytes[0] ?? 0) + 24;
  return Buffer.concat([Buffer.from([bits >> 8, bits & 0xff]), bytes]);
}
