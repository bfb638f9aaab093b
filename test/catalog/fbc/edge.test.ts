import { expect, test } from 'vitest';
import { shortName, versionText } from '../../../catalog/fbc/edge.ts';
import { tryParseVersion } from '../../../catalog/version/version.ts';

test.each([
  ['etcd.v1.2.3', '1.2.3', '1.2.3'],
  ['etcdoperator.v1.2.3-rc.1', '1.2.3-rc.1', '1.2.3-rc.1'],
  // What clusters show is another version than the one that decides upgrades.
  ['scaleops-operator.v1.7.5', '0.0.1', 'scaleops-operator.v1.7.5'],
  ['etcd.v1.2.3-0.1700000000.p', '1.2.3+0.1700000000.p', 'etcd.v1.2.3-0.1700000000.p'],
  ['etcd.v11.2.3', '1.2.3', 'etcd.v11.2.3'],
  ['etcd', '1.2.3', 'etcd'],
  ['etcd.v1.2.3', 'unknown', 'etcd.v1.2.3'],
])('%s of version %s is called %s', (name, written, expected) => {
  expect(shortName({ name, version: tryParseVersion(written) })).toBe(expected);
});

test('where versions are compared, the version counts, whatever the name', () => {
  expect(versionText({ name: 'scaleops-operator.v1.7.5', version: tryParseVersion('0.0.1') })).toBe('0.0.1');
  expect(versionText({ name: 'etcd', version: undefined })).toBe('etcd');
});
