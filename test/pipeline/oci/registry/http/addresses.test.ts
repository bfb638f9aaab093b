import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addressRule,
  guardedLookup,
  isInternal,
} from '../../../../../pipeline/oci/registry/http/addresses.ts';

describe('internal addresses', () => {
  test.each([
    ['0.0.0.0'],
    ['10.1.2.3'],
    ['100.64.0.1'],
    ['100.100.100.200'],
    ['127.0.0.1'],
    ['127.255.255.254'],
    ['168.63.129.16'],
    ['169.254.169.254'],
    ['172.16.0.1'],
    ['172.31.255.255'],
    ['192.0.0.192'],
    ['192.168.1.1'],
    ['198.18.0.1'],
    ['224.0.0.1'],
    ['240.0.0.1'],
    ['255.255.255.255'],
    ['::'],
    ['::1'],
    ['fd00:ec2::254'],
    ['fc00::1'],
    ['fe80::1'],
    ['fe80::1%eth0'],
    ['fec0::1'],
    ['ff02::1'],
    ['::ffff:127.0.0.1'],
    ['::ffff:a9fe:a9fe'],
    ['64:ff9b::169.254.169.254'],
    ['64:ff9b:1::1'],
    ['2002:7f00:1::'],
    ['2002:a9fe:a9fe::1'],
    ['::127.0.0.1'],
    ['::ffff:0:10.0.0.1'],
    ['2001:db8::1'],
    ['100::1'],
    ['100:0:0:1::1'],
    ['192.88.99.1'],
    ['2001::1'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['2001:1ff:ffff::1'],
    ['3fff::1'],
    ['3fff:fff:ffff::1'],
    ['5f00::1'],
    ['not an address'],
    [''],
  ])('%s is', (address) => expect(isInternal(address)).toBe(true));

  test.each([
    ['1.1.1.1'],
    ['8.8.8.8'],
    ['100.63.255.255'],
    ['100.128.0.1'],
    ['172.15.0.1'],
    ['172.32.0.1'],
    ['11.0.0.1'],
    ['2606:4700::1111'],
    ['::ffff:8.8.8.8'],
    ['64:ff9b::8.8.8.8'],
    ['2002:808:808::1'],
    ['192.88.98.1'],
    ['192.88.100.1'],
    ['2001:200::1'],
    ['2001:4860:4860::8888'],
    ['3ffe::1'],
    ['3fff:1000::1'],
    ['5eff::1'],
    ['5f01::1'],
  ])('%s is not', (address) => expect(isInternal(address)).toBe(false));

  test('an IPv4 address is judged alike however IPv6 carries it', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        for (const carried of [
          `::ffff:${address}`,
          `0:0:0:0:0:FFFF:${hex}`,
          `64:ff9b::${hex}`,
          `2002:${hex}::9`,
        ]) {
          expect(isInternal(carried)).toBe(isInternal(address));
        }
      }),
    );
  });
});

describe('the rule', () => {
  const rule = addressRule(['registry.corp', 'localhost:5000', '10.1.0.0/16', '::1', '127.0.0.1:5001']);

  test.each([
    ['registry.corp', '10.9.9.9', true],
    ['registry.corp:8443', '192.168.0.1', true],
    ['Registry.Corp', '10.9.9.9', true],
    ['localhost:5000', '127.0.0.1', true],
    ['localhost:5001', '127.0.0.1', false],
    ['localhost', '127.0.0.1', false],
    ['evil.example', '10.1.2.3', true],
    ['evil.example', '10.2.2.3', false],
    ['evil.example', '::1', true],
    ['127.0.0.1:5001', '127.0.0.1', true],
    ['127.0.0.1:5002', '127.0.0.1', false],
    ['xregistry.corp', '10.9.9.9', false],
    ['quay.io', '8.8.8.8', true],
  ])('%s at %s: %s', (host, address, allowed) => expect(rule.allows(host, address)).toBe(allowed));
});

describe('looking names up', () => {
  const resolver = async () => [
    { address: '10.0.0.1', family: 4 },
    { address: '8.8.8.8', family: 4 },
  ];
  const rule = addressRule(['inside.corp', 'secure.corp:443', 'plain.corp:80']);
  const look = (host: string, all: boolean, resolve = resolver) =>
    new Promise((done) =>
      guardedLookup(rule, new URL(`https://${host}/`), resolve)(host, { all }, (error, address) =>
        done(error ?? address),
      ),
    );

  test('only allowed addresses are handed on', async () => {
    expect(await look('mixed.example', true)).toEqual([{ address: '8.8.8.8', family: 4 }]);
    expect(await look('mixed.example', false)).toBe('8.8.8.8');
    expect(await look('inside.corp', false)).toBe('10.0.0.1');
    // A URL leaves out the usual port.
    expect(await look('secure.corp:443', false)).toBe('10.0.0.1');
    expect(await look('secure.corp', false)).toBe('10.0.0.1');
    expect(await look('secure.corp:8443', false)).toBe('8.8.8.8');
    expect(await look('plain.corp', false)).toBe('8.8.8.8');
  });

  test('a name with no allowed address is refused', async () => {
    const inner = async () => [{ address: '169.254.169.254', family: 4 }];
    expect(await look('evil.example', true, inner)).toMatchObject({ code: 'not-allowed' });
  });

  test('what the resolver says is passed on', async () => {
    const failing = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
    expect(await look('none.example', true, failing)).toMatchObject({ code: 'ENOTFOUND' });
  });
});
