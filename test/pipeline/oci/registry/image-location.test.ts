import { describe, expect, test } from 'vitest';
import { formatLocation, parseLocation } from '../../../../pipeline/oci/registry/image-location.ts';

describe('places', () => {
  test.each([
    [
      'quay.io/org/app:v1',
      { kind: 'registry', reference: { registry: 'quay.io', repository: 'org/app', tag: 'v1' } },
    ],
    ['docker://quay.io/org/app', { kind: 'registry', reference: { tag: 'latest' } }],
    ['localhost:5000/app:v1', { kind: 'registry', reference: { registry: 'localhost:5000' } }],
    ['oci:dir', { kind: 'oci', path: 'dir' }],
    ['oci:./dir:v1', { kind: 'oci', path: './dir', tag: { repository: '', tag: 'v1' } }],
    ['oci:/a/b:org/app:v1', { kind: 'oci', path: '/a/b', tag: { repository: 'org/app', tag: 'v1' } }],
    ['oci:C:\\dir:v1', { kind: 'oci', path: 'C:\\dir', tag: { repository: '', tag: 'v1' } }],
    ['oci:with space', { kind: 'oci', path: 'with space' }],
    ['oci-archive:/a.tar:v1', { kind: 'oci-archive', path: '/a.tar', tag: { repository: '', tag: 'v1' } }],
    ['docker-archive:a.tar', { kind: 'docker-archive', path: 'a.tar' }],
    [
      'docker-archive:a.tar:quay.io/org/app:v1',
      {
        kind: 'docker-archive',
        path: 'a.tar',
        name: { registry: 'quay.io', repository: 'org/app', tag: 'v1' },
      },
    ],
  ])('%s', (text, expected) => expect(parseLocation(text)).toMatchObject(expected));

  test.each([
    [''],
    ['oci:'],
    ['oci::v1'],
    ['oci:dir:'],
    ['oci:dir:-x'],
    ['oci:dir:Upper/x:v1'],
    ['oci:dir:a/b'],
    ['docker-archive:a.tar:Upper'],
    [`docker-archive:a.tar:x@sha256:${'a'.repeat(64)}`],
    ['docker:x y'],
    ['dir:/a'],
    ['https://quay.io/x'],
  ])('%j is none', (text) => {
    expect(() => parseLocation(text)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  test.each([
    ['quay.io/org/app:v1'],
    ['oci:dir'],
    ['oci:/a/b:org/app:v1'],
    ['oci-archive:/a.tar:v1'],
    ['docker-archive:a.tar:quay.io/org/app:v1'],
    ['docker-archive:a.tar'],
  ])('%s is written as it is read', (text) => expect(formatLocation(parseLocation(text))).toBe(text));
});
