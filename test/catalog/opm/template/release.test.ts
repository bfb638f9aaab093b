import { describe, expect, test } from 'vitest';
import { releasedBasic, releasedSemver } from '../../../../catalog/opm/template/release.ts';

const RELEASE = { package: 'etcd', name: 'etcd.v1.1.0', image: 'quay.io/x@sha256:1', channels: ['stable'] };

describe('a basic template', () => {
  const TEMPLATE = `---
# kept
schema: olm.template.basic
entries:
  - schema: olm.package
    name: etcd
    defaultChannel: stable   # kept too
  - schema: olm.channel
    package: etcd
    name: stable
    entries:
      - name: etcd.v1.0.0

  - schema: olm.bundle
    image: quay.io/x@sha256:0
`;

  test('gets an entry and an image, and keeps every other line', () => {
    const released = releasedBasic(TEMPLATE, { ...RELEASE, replaces: 'etcd.v1.0.0', skips: ['etcd.v1.0.1'] });
    expect(released).toBe(`---
# kept
schema: olm.template.basic
entries:
  - schema: olm.package
    name: etcd
    defaultChannel: stable   # kept too
  - schema: olm.channel
    package: etcd
    name: stable
    entries:
      - name: etcd.v1.0.0
      - name: etcd.v1.1.0
        replaces: etcd.v1.0.0
        skips:
        - etcd.v1.0.1

  - schema: olm.bundle
    image: quay.io/x@sha256:0
  - image: quay.io/x@sha256:1
    schema: olm.bundle
`);
    expect(releasedBasic(released, { ...RELEASE, replaces: 'etcd.v1.0.0', skips: ['etcd.v1.0.1'] })).toBe(
      released,
    );
    expect(() => releasedBasic(released, RELEASE)).toThrow('has etcd.v1.1.0 already, with other edges');
  });

  test('gets a channel that it lacks, and another default', () => {
    const released = releasedBasic(TEMPLATE, { ...RELEASE, channels: ['fast'], defaultChannel: 'fast' });
    expect(released).toContain('    defaultChannel: "fast"   # kept too\n');
    expect(released).toContain(
      '  - entries:\n    - name: etcd.v1.1.0\n    name: fast\n    package: etcd\n    schema: olm.channel\n',
    );
  });

  test('gets another default in place of a quoted one, but not of one with escapes', () => {
    const change = { ...RELEASE, channels: ['fast'], defaultChannel: 'fast' };
    const quoted = TEMPLATE.replace('defaultChannel: stable ', "defaultChannel: 'stable' ");
    expect(releasedBasic(quoted, change)).toContain('    defaultChannel: "fast"   # kept too\n');
    const escaped = TEMPLATE.replace('defaultChannel: stable ', 'defaultChannel: "st\\u0061ble" ');
    expect(() => releasedBasic(escaped, change)).toThrow('cannot be found');
  });

  test('is made when there is none', () => {
    const made = releasedBasic(undefined, { ...RELEASE, channels: ['a', 'b'] });
    expect(releasedBasic(made, { ...RELEASE, channels: ['a', 'b'] })).toBe(made);
    expect(made).toContain('defaultChannel: a\n');
  });

  test('of another schema is refused', () => {
    expect(() => releasedBasic('schema: olm.semver\n', RELEASE)).toThrow('expected olm.template.basic');
    // Rendering reads the key all the same, and would then read one of two.
    for (const key of ['Entries', 'entrieſ'])
      expect(() => releasedBasic(TEMPLATE.replace('\nentries:', `\n${key}:`), RELEASE)).toThrow(
        `the template has the key "${key}"`,
      );
  });
});

describe('a semver template', () => {
  test('gets an image in its groups', () => {
    const release = { ...RELEASE, channels: ['Fast', 'Stable'] };
    const made = releasedSemver(
      'Schema: olm.semver\nStable:\n  Bundles:\n  - Image: quay.io/x@sha256:0\n',
      release,
    );
    expect(made).toContain(
      'Stable:\n  Bundles:\n  - Image: quay.io/x@sha256:0\n  - Image: quay.io/x@sha256:1\n',
    );
    expect(made).toContain('Fast:\n  Bundles:\n  - Image: quay.io/x@sha256:1\n');
    expect(releasedSemver(made, release)).toBe(made);
  });

  test('has three channels and no edges of its own', () => {
    expect(() => releasedSemver(undefined, RELEASE)).toThrow('"stable" is not a channel');
    expect(() => releasedSemver(undefined, { ...RELEASE, channels: ['Fast'], skips: ['x'] })).toThrow(
      'its own edges',
    );
  });
});
