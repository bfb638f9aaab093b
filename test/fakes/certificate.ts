/** Certificates made on the spot: no key lies in the repository, none expires. */
import { createHash, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

export interface Certificate {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly cert: string;
}

/** A certificate that signs itself, for hosts by name and by address. */
export function selfSigned(...hosts: readonly string[]): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = certificateBody(publicKey, hosts);
  const signature = sign('sha256', body, privateKey);
  const der = sequence(body, ECDSA_SHA256, bits(signature));
  const cert = new X509Certificate(der).toString();
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert };
}

const ECDSA_SHA256 = sequence(oid('06082a8648ce3d040302'));

function certificateBody(publicKey: KeyObject, hosts: readonly string[]): Buffer {
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const serial = createHash('sha256').update(spki).digest().subarray(0, 8);
  const name = sequence(tlv(0x31, sequence(oid('0603550403'), tlv(0x0c, Buffer.from('portolan test')))));
  const names = hosts.map((host) =>
    isIP(host) === 4 ? tlv(0x87, Buffer.from(host.split('.').map(Number))) : tlv(0x82, Buffer.from(host)),
  );
  const extensions = sequence(
    sequence(oid('0603551d11'), tlv(0x04, sequence(...names))),
    sequence(
      oid('0603551d13'),
      tlv(0x01, Buffer.from([0xff])),
      tlv(0x04, sequence(tlv(0x01, Buffer.from([0xff])))),
    ),
  );
  return sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), serial])),
    ECDSA_SHA256,
    name,
    sequence(time('20200101000000Z'), time('21200101000000Z')),
    name,
    spki,
    tlv(0xa3, extensions),
  );
}

function tlv(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function oid(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

function bits(content: Buffer): Buffer {
  return tlv(0x03, Buffer.concat([Buffer.from([0]), content]));
}

function time(text: string): Buffer {
  return tlv(0x18, Buffer.from(text));
}
