import { describe, expect, test } from 'vitest';
import { formatReference, parseReference, tryParseReference, withDigest } from '../../catalog/reference.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('parseReference', () => {
  test.each([
    ['busybox', 'docker.io/library/busybox:latest'],
    ['busybox:1', 'docker.io/library/busybox:1'],
    ['index.docker.io/busybox', 'docker.io/library/busybox:latest'],
    ['foo/bar', 'docker.io/foo/bar:latest'],
    ['localhost', 'docker.io/library/localhost:latest'],
    ['localhost/a', 'localhost/a:latest'],
    ['registry:5000/bar:V1', 'registry:5000/bar:V1'],
    ['QUAY.io/a/b', 'QUAY.io/a/b:latest'],
    [`quay.io/a/b@${DIGEST}`, `quay.io/a/b@${DIGEST}`],
    [`quay.io/a/b:v1@${DIGEST}`, `quay.io/a/b:v1@${DIGEST}`],
    ['q_uay.io/a', 'q_uay.io/a:latest'],
  ])('%s means %s', (text, full) => expect(formatReference(parseReference(text))).toBe(full));

  test.each([
    ['', 'invalid reference format'],
    ['https://quay.io/a', 'invalid reference format'],
    ['a//b', 'invalid reference format'],
    ['a:1\n', 'invalid reference format'],
    ['[::1]:5000/a', 'invalid reference format'],
    ['quay.io/A/b', 'invalid reference format: repository name must be lowercase'],
    ['a@sha256:abc', 'invalid reference format'],
    [`a@${DIGEST.toUpperCase().replace('SHA', 'sha')}`, 'invalid checksum digest format'],
    [`a@${DIGEST}a`, 'invalid checksum digest length'],
    [`a@md5:${'a'.repeat(32)}`, 'unsupported digest algorithm'],
    ['a'.repeat(64), 'cannot specify 64-byte hexadecimal strings'],
    [`quay.io/${'a'.repeat(250)}`, 'repository name must not be more than 255 characters'],
  ])('refuses %j', (text, message) => {
    expect(() => parseReference(text)).toThrow(message);
    expect(tryParseReference(text)).toBeUndefined();
  });
});

test.each(['a', 'a-', 'a.', 'a/', 'a_'])(
  '%s a hundred thousand times over is refused without much thought',
  (part) => {
    expect(tryParseReference(`quay.io/${part.repeat(100_000)}!`)).toBeUndefined();
  },
);

test('withDigest names the same repository by digest', () => {
  expect(formatReference(withDigest(parseReference('quay.io/a/b:v1'), DIGEST))).toBe(`quay.io/a/b@${DIGEST}`);
});
