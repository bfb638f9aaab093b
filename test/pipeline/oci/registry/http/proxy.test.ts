import { describe, expect, test } from 'vitest';
import { addressRule } from '../../../../../pipeline/oci/registry/http/addresses.ts';
import { createConnections } from '../../../../../pipeline/oci/registry/http/connection.ts';
import { proxiesFrom, proxyAuthorization } from '../../../../../pipeline/oci/registry/http/proxy.ts';

const choose = (environment: Record<string, string>, url: string) =>
  proxiesFrom(environment)(new URL(url))?.href;

test.each([
  [{}, 'https://quay.io/', undefined],
  [{ https_proxy: 'http://p:3128' }, 'https://quay.io/', 'http://p:3128/'],
  [{ https_proxy: 'http://p:3128' }, 'http://quay.io/', undefined],
  [{ HTTP_PROXY: 'http://p' }, 'http://quay.io/', 'http://p/'],
  [{ HTTPS_PROXY: 'http://upper', https_proxy: 'http://lower' }, 'https://quay.io/', 'http://lower/'],
  [{ https_proxy: 'p:3128' }, 'https://quay.io/', 'http://p:3128/'],
  [{ all_proxy: 'http://all' }, 'https://quay.io/', 'http://all/'],
  [{ all_proxy: 'http://all', https_proxy: 'http://own' }, 'https://quay.io/', 'http://own/'],
  [{ https_proxy: 'https://p' }, 'https://localhost:5000/', undefined],
  [{ http_proxy: 'http://p' }, 'http://127.0.0.9:5000/', undefined],
  [{ http_proxy: 'http://p' }, 'http://[::1]:5000/', undefined],
])('%j for %s: %s', (environment, url, expected) => expect(choose(environment, url)).toBe(expected));

describe('no_proxy', () => {
  test.each([
    ['*', 'quay.io', true],
    ['quay.io', 'quay.io', true],
    ['quay.io', 'cdn.quay.io', true],
    ['quay.io', 'notquay.io', false],
    ['.quay.io', 'quay.io', false],
    ['.quay.io', 'cdn.quay.io', true],
    ['*.quay.io', 'cdn.quay.io', true],
    ['QUAY.io , other', 'quay.io', true],
    ['quay.io:443', 'quay.io', true],
    ['quay.io:8443', 'quay.io', false],
    ['quay.io:8443', 'quay.io:8443', true],
    ['10.0.0.0/8', '10.2.3.4', true],
    ['10.0.0.0/8', '11.2.3.4', false],
    ['10.2.3.4', '10.2.3.4:5000', true],
    ['10.2.3.4:5000', '10.2.3.4:5000', true],
    ['fd00::/8', '[fd00::1]', true],
    ['[fd00::1]:5000', '[fd00::1]:5000', true],
    ['[fd00::1]:5000', '[fd00::1]:5001', false],
    ['10.0.0.0/99', '10.2.3.4', false],
  ])('%s covers %s: %s', (no_proxy, host, direct) => {
    expect(choose({ https_proxy: 'http://p', no_proxy }, `https://${host}/`)).toBe(
      direct ? undefined : 'http://p/',
    );
  });
});

test('a proxy that is none is said without its text, which may hold a password', () => {
  expect(() => proxiesFrom({ https_proxy: 'socks5://user:secret@p' })).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.not.stringContaining('secret') }),
  );
});

test.each([
  [{ all_proxy: 'socks5://p:1080' }, 'all_proxy is not'],
  [{ http_proxy: 'socks5://p:1080', all_proxy: 'http://p' }, 'http_proxy is not'],
  [{ HTTPS_PROXY: 'http://user:50%@p:3128' }, 'https_proxy has a user name or password with a %'],
])('%j: %s', (environment, message) => {
  expect(() => proxiesFrom(environment)).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.stringContaining(message) }),
  );
});

test('names and passwords of proxies', () => {
  const header = proxyAuthorization(new URL('http://user:p%40ss@proxy:3128'));
  expect(Buffer.from(header?.replace('Basic ', '') ?? '', 'base64').toString()).toBe('user:p@ss');
  expect(proxyAuthorization(new URL('http://proxy:3128'))).toBeUndefined();
});

test('whether a host is reached directly is decided once, and through a proxy for each request', async () => {
  const asked: string[] = [];
  const connections = createConnections({
    addresses: addressRule([]),
    resolver: async () => [{ address: '93.184.216.34', family: 4 }],
    proxy: ({ host }) => {
      asked.push(host);
      return host === 'far.example.com' ? new URL('http://proxy.example.com:3128') : undefined;
    },
    authorities: [],
    connectTimeout: 1000,
  });
  for (const path of ['/v2/', '/v2/a'])
    for (const host of ['near.example.com', 'far.example.com']) {
      const { options } = await connections.route(new URL(`http://${host}${path}`));
      const isDirect = host === 'near.example.com';
      expect(options).toMatchObject({
        hostname: isDirect ? host : 'proxy.example.com',
        path: isDirect ? path : `http://${host}${path}`,
      });
    }
  connections.close();
  expect(asked).toEqual(['near.example.com', 'far.example.com', 'far.example.com']);
});
