/** Signed messages: a real one of Red Hat, and what must not pass for one. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OpenPgpError, readKeyring, signedText } from '../../../../pipeline/mirror/releases/openpgp.ts';
import { RED_HAT_KEYS } from '../../../../pipeline/mirror/releases/red-hat-key.ts';
import { pgpKey } from '../../../fakes/openpgp.ts';

// Published at mirror.openshift.com; from the tests of github.com/openshift/oc-mirror (Apache-2.0).
const REAL = readFileSync('test/pipeline/mirror/releases/fixtures/ocp-release-4.15.0-x86_64.signature');
const redHat = readKeyring(Buffer.from(RED_HAT_KEYS));
const NOW = Date.parse('2026-01-01');

test("Red Hat's signature of OpenShift 4.15.0 is good", () => {
  expect([...redHat.keys()]).toEqual(['199e2f91fd431d51', '938a80caf21541eb']);
  expect(JSON.parse(signedText(REAL, redHat, NOW))).toMatchObject({
    critical: {
      image: {
        'docker-manifest-digest': 'sha256:0da6316466d60a3a4535d5fed3589feb0391989982fba59d47d4c729912d6363',
      },
      identity: { 'docker-reference': 'quay.io/openshift-release-dev/ocp-release:4.15.0-x86_64' },
    },
  });
});

test('no changed byte of it changes the text', () => {
  const text = signedText(REAL, redHat, NOW);
  for (let at = 0; at < REAL.length; at++) {
    const changed = Buffer.from(REAL);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    let read = text;
    try {
      read = signedText(changed, redHat, NOW);
    } catch (error) {
      expect(error).toBeInstanceOf(OpenPgpError);
    }
    expect(read).toBe(text);
  }
});

test('a message that breaks off anywhere is refused', () => {
  for (let length = 0; length < REAL.length - 1; length++)
    expect(() => signedText(REAL.subarray(0, length), redHat, NOW)).toThrow(OpenPgpError);
});

describe('a key of our own', () => {
  const key = pgpKey();
  const ring = readKeyring(Buffer.from(key.armored));
  const CREATED = NOW / 1000 - 1000;

  test('signs a text, and no other key has', () => {
    expect(signedText(key.sign('hello'), ring, NOW)).toBe('hello');
    expect(() => signedText(key.sign('hello'), redHat, NOW)).toThrow('is of the unknown key');
  });

  test('its signature may expire', () => {
    expect(signedText(key.sign('a', { created: CREATED, lifetime: 2000 }), ring, NOW)).toBe('a');
    expect(() => signedText(key.sign('a', { created: CREATED, lifetime: 500 }), ring, NOW)).toThrow(
      'has expired',
    );
  });

  test('its signature may have subpackets of any size that two bytes say', () => {
    for (const bytes of [190, 191, 8382, 8383, 16_318])
      expect(signedText(key.sign('hello', { notes: [bytes] }), ring, NOW)).toBe('hello');
  });

  test('a subkey that somebody appended signs nothing', () => {
    const other = pgpKey();
    const primary = key.armored.split('\n').slice(3, -3).join('');
    const both = readKeyring(Buffer.concat([Buffer.from(primary, 'base64'), other.asSubkey]));
    expect(signedText(key.sign('hello'), both, NOW)).toBe('hello');
    expect(() => signedText(other.sign('hello'), both, NOW)).toThrow(/is of the subkey \w{16}; only primary/);
    expect(() => readKeyring(other.asSubkey)).toThrow('has no RSA key');
  });

  test('a text without a signature is refused', () => {
    const literal = Buffer.from('\xcb\x0bb\0\0\0\0\0hello', 'latin1');
    expect(() => signedText(literal, ring, NOW)).toThrow('is missing in the message');
  });

  test('what is not a key ring is refused', () => {
    expect(() => readKeyring(Buffer.from('hello'))).toThrow(OpenPgpError);
    expect(() => readKeyring(new Uint8Array(0))).toThrow('has no RSA key');
  });
});
