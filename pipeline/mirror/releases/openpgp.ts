/**
 * Signed OpenPGP messages, as far as releases use them: RSA signatures of version 4 over a literal text in a message that
 * may be compressed. Our own, as OpenPGP.js is LGPL-3.0: who bundles it must let users replace it.
 *
 * @see https://www.rfc-editor.org/rfc/rfc4880
 */
import { createHash, createPublicKey, createVerify, type KeyObject } from 'node:crypto';
import { inflateRawSync, inflateSync } from 'node:zlib';

/** Keys by their id: 16 hexadecimal digits in lower case. Subkeys have none: they do not count. */
export type Keyring = ReadonlyMap<string, KeyObject | undefined>;

/** A message that is not signed as it must be; the message follows "the signature". */
export class OpenPgpError extends Error {}

/** Numbers of the packets (RFC 4880, section 4.3). */
const TAGS = { signature: 2, key: 6, subkey: 14, compressed: 8, literal: 11 } as const;
/** Bytes of a message, decompressed. */
const LARGEST = 2 ** 20;

interface Packet {
  readonly tag: number;
  readonly body: Buffer;
}

/**
 * The public RSA keys of a key block, armored or not. Subkeys do not count: anybody can append one, and the signature
 * that binds it to its key is not read.
 *
 * @throws OpenPgpError
 */
export function readKeyring(bytes: Uint8Array): Keyring {
  const keys = new Map<string, KeyObject | undefined>();
  for (const { tag, body } of blocks(bytes).flatMap((block) => packetsOf(block))) {
    if (tag !== TAGS.key && tag !== TAGS.subkey) continue;
    // Version 4, one of the three numbers of RSA.
    if (body[0] !== 4 || ![1, 2, 3].includes(body[5] ?? 0)) continue;
    // The fingerprint (section 12.2): SHA-1 of 0x99, the length in two bytes, and the packet. Its last 8 bytes are the id.
    const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff]);
    const id = createHash('sha1').update(head).update(body).digest('hex').slice(-16);
    keys.set(id, tag === TAGS.subkey ? undefined : publicKeyIn(body));
  }
  if (![...keys.values()].some(Boolean)) throw new OpenPgpError('has no RSA key to be checked with');
  return keys;
}

/** The key in a packet: the modulus and the exponent follow the version, the time and the algorithm (1, 4 and 1 bytes). */
function publicKeyIn(body: Buffer): KeyObject {
  const { value: n, end } = numberAt(body, 6);
  const { value: e } = numberAt(body, end);
  const jwk = { kty: 'RSA', n: n.toString('base64url'), e: e.toString('base64url') };
  return createPublicKey({ key: jwk, format: 'jwk' });
}

/** A block of ASCII armor, with its headers and checksum in the group. */
const ARMOR = /-----BEGIN PGP [A-Z ]+-----\r?\n([\s\S]*?)-----END PGP/g;

/** The binary blocks of a text, or the bytes themselves. */
function blocks(bytes: Uint8Array): Buffer[] {
  const text = Buffer.from(bytes).toString('latin1');
  const armored = [...text.matchAll(ARMOR)].map((match) => {
    // Headers end with an empty line; the last line is a checksum.
    const body = (match[1] ?? '').replaceAll('\r', '');
    const lines = body.slice(body.indexOf('\n\n') + 2).split('\n');
    return Buffer.from(lines.filter((line) => line !== '' && !line.startsWith('=')).join(''), 'base64');
  });
  return armored.length > 0 ? armored : [Buffer.from(bytes)];
}

/**
 * The text of a signed message, once a key of the ring has signed it.
 *
 * @param now milliseconds since the epoch: signatures may expire
 * @throws OpenPgpError
 */
export function signedText(message: Uint8Array, keys: Keyring, now: number): string {
  try {
    return checkedText(message, keys, now);
  } catch (error) {
    // Lengths that lead out of the message.
    if (error instanceof RangeError) throw new OpenPgpError('is damaged', { cause: error });
    throw error;
  }
}

/** The text of a signed message. @throws OpenPgpError unless one of its signatures is by one of the keys */
function checkedText(message: Uint8Array, keys: Keyring, now: number): string {
  const packets = packetsOf(Buffer.from(message)).flatMap((packet) =>
    packet.tag === TAGS.compressed ? packetsOf(decompressed(packet.body)) : [packet],
  );
  const literals = packets.filter(({ tag }) => tag === TAGS.literal);
  const [literal] = literals;
  if (!literal || literals.length > 1) throw new OpenPgpError('is not about one text');
  // Behind the format, the name of the file and its date.
  const data = literal.body.subarray(2 + (literal.body[1] ?? 0) + 4);
  const signatures = packets.filter(({ tag }) => tag === TAGS.signature);
  if (signatures.length === 0) throw new OpenPgpError('is missing in the message');
  const refusals = signatures.map(({ body }) => refusalOf(body, data, { keys, now }));
  if (refusals.every((why) => why !== undefined)) throw new OpenPgpError(refusals[0]);
  return data.toString('utf8');
}

/** The packets in a compressed one. A small message cannot fill the memory: its size is limited. */
function decompressed(body: Buffer): Buffer {
  const options = { maxOutputLength: LARGEST };
  try {
    // Algorithms of section 9.3: uncompressed, ZIP, ZLIB.
    if (body[0] === 0) return body.subarray(1);
    if (body[0] === 1) return inflateRawSync(body.subarray(1), options);
    if (body[0] === 2) return inflateSync(body.subarray(1), options);
  } catch (cause) {
    throw new OpenPgpError('cannot be decompressed', { cause });
  }
  throw new OpenPgpError('is compressed in an unknown way');
}

/** Hashes by their numbers (section 9.4); those that are broken, MD5 and SHA-1, are not accepted. */
const HASHES: Readonly<Record<number, string>> = { 8: 'sha256', 9: 'sha384', 10: 'sha512', 11: 'sha224' };

/** Why a signature does not count; undefined for a good one. */
function refusalOf(
  body: Buffer,
  data: Buffer,
  { keys, now }: { readonly keys: Keyring; readonly now: number },
): string | undefined {
  const [version, type, algorithm, hash] = body;
  if (version !== 4 || algorithm !== 1) return 'is not an RSA signature of version 4';
  // 0: a binary document.
  if (type !== 0) return 'is not about a document';
  const digest = HASHES[hash ?? 0];
  if (digest === undefined) return 'uses a hash that is not accepted';
  // Version, type, algorithms and the length of the hashed subpackets come first: 6 bytes.
  const hashed = body.subarray(0, 6 + body.readUInt16BE(4));
  const unhashedLength = body.readUInt16BE(hashed.length);
  const all = [
    ...subpackets(hashed.subarray(6)),
    ...subpackets(body.subarray(hashed.length + 2, hashed.length + 2 + unhashedLength)),
  ];
  const issuer = all.find(({ kind }) => kind === ISSUER)?.body.toString('hex') ?? '';
  const key = keys.get(issuer);
  if (!key && keys.has(issuer)) return `is of the subkey ${issuer}; only primary keys count`;
  if (!key) return `is of the unknown key ${issuer === '' ? '(none is named)' : issuer}`;
  // Only what is hashed is signed: anybody could add a date behind it.
  const signed = subpackets(hashed.subarray(6));
  const created = signed.find(({ kind }) => kind === CREATED)?.body.readUInt32BE(0) ?? 0;
  const lifetime = signed.find(({ kind }) => kind === LIFETIME)?.body.readUInt32BE(0) ?? 0;
  if (lifetime > 0 && (created + lifetime) * 1000 < now) return 'has expired';
  // Section 5.2.4: what is signed ends with the version, 0xff, and the length of the hashed part.
  const trailer = Buffer.alloc(6);
  trailer.writeUInt16BE(0x04ff, 0);
  trailer.writeUInt32BE(hashed.length, 2);
  const { value } = numberAt(body, hashed.length + 2 + unhashedLength + 2);
  const size = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
  if (value.length > size) return 'does not fit its key';
  // Zeros at its beginning are left out of a number, but a signature is as long as its key.
  const padded = Buffer.concat([Buffer.alloc(size - value.length), value]);
  const isGood = createVerify(digest).update(data).update(hashed).update(trailer).verify(key, padded);
  return isGood ? undefined : 'is not of these bytes';
}

/** Types of subpackets of a signature. */
const CREATED = 2;
const LIFETIME = 3;
const ISSUER = 16;

interface Subpacket {
  readonly kind: number;
  readonly body: Buffer;
}

/** The subpackets of a signature. @throws OpenPgpError for lengths that lead nowhere */
function subpackets(bytes: Buffer): Subpacket[] {
  const found: Subpacket[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { length, start } = newLength(bytes, at, SUBPACKET_PAIRS);
    if (length === 0) throw new OpenPgpError('is damaged');
    // The first byte is the type; its highest bit says only that the subpacket is critical.
    found.push({ kind: (bytes[start] ?? 0) & 0x7f, body: slice(bytes, start + 1, length - 1) });
    at = start + length;
  }
  return found;
}

/** The packets of a message. @throws OpenPgpError */
function packetsOf(bytes: Buffer): Packet[] {
  const packets: Packet[] = [];
  for (let at = 0; at < bytes.length; ) {
    const head = bytes[at] ?? 0;
    if ((head & 0x80) === 0) throw new OpenPgpError('is not an OpenPGP message');
    // Section 4.2: the highest bit is always set, the next one tells new headers from old ones.
    const isNew = (head & 0x40) !== 0;
    const { length, start } = isNew
      ? newLength(bytes, at + 1, PACKET_PAIRS)
      : oldLength(bytes, at + 1, head & 3);
    packets.push({ tag: isNew ? head & 0x3f : (head >> 2) & 0x0f, body: slice(bytes, start, length) });
    at = start + length;
  }
  return packets;
}

interface Extent {
  readonly length: number;
  /** Offset of the body. */
  readonly start: number;
}

/**
 * The length of a packet with an old header: two bits say how many bytes it has, or that the packet goes on
 * to the end.
 */
function oldLength(bytes: Buffer, at: number, type: number): Extent {
  if (type === 3) return { length: bytes.length - at, start: at };
  const size = 1 << type;
  return { length: slice(bytes, at, size).readUIntBE(0, size), start: at + size };
}

/** The largest first byte of lengths in two bytes. Of packets, those above it begin a part (RFC 4880, 4.2.2 and 5.2.3.1). */
const [PACKET_PAIRS, SUBPACKET_PAIRS] = [223, 254];

/** The length of a packet with a new header, or of a subpacket: one, two or five bytes, by the first one. */
function newLength(bytes: Buffer, at: number, largestOfTwo: number): Extent {
  const first = slice(bytes, at, 1).readUInt8(0);
  if (first < 192) return { length: first, start: at + 1 };
  if (first <= largestOfTwo)
    return { length: ((first - 192) << 8) + slice(bytes, at + 1, 1).readUInt8(0) + 192, start: at + 2 };
  if (first === 255) return { length: slice(bytes, at + 1, 4).readUInt32BE(0), start: at + 5 };
  throw new OpenPgpError('is in parts, which is not supported');
}

/** A number of any size: its length in bits, then its bytes. */
function numberAt(bytes: Buffer, at: number): { readonly value: Buffer; readonly end: number } {
  const length = Math.ceil(slice(bytes, at, 2).readUInt16BE(0) / 8);
  return { value: slice(bytes, at + 2, length), end: at + 2 + length };
}

/** So many bytes from a place on. @throws OpenPgpError where the message ends before */
function slice(bytes: Buffer, from: number, length: number): Buffer {
  if (from + length > bytes.length) throw new OpenPgpError('breaks off');
  return bytes.subarray(from, from + length);
}
