import { expect, test } from 'vitest';
import { convertPackage } from '../../../catalog/bundle/package-catalog.ts';
import { readPackageFolder } from '../../../catalog/bundle/package-manifest.ts';
import { sourceOf } from '../../../catalog/source.ts';

function csv(version: string, edges: string): string {
  return `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: etcd.v${version}}
spec: {version: ${version}, ${edges}}
`;
}

test.each([
  ['skips: [etcd.v1.0.0]', 'replaces: etcd.v1.1.0', 'replaced by a version that is skipped'],
  ['skips: [etcd.v1.1.0]', 'skips: []', 'skipped'],
  ['skips: [etcd.v1.0.0, etcd.v1.1.0]', 'replaces: etcd.v1.1.0', 'skipped'],
])('a channel without a head says why: %s, %s', async (head, other, expected) => {
  const folder = await readPackageFolder(
    sourceOf({
      'etcd.package.yaml':
        'packageName: etcd\nchannels: [{name: stable, currentCSV: etcd.v1.1.0}]\ndefaultChannel: stable\n',
      '1.1.0/csv.yaml': csv('1.1.0', head),
      '1.0.0/csv.yaml': csv('1.0.0', other),
    }),
  );
  const messages = convertPackage(folder)
    .findings.filter(({ rule }) => rule === 'package-manifest/head')
    .map(({ message }) => message);
  expect(messages).toEqual([`channel "stable" has no head: its currentCSV "etcd.v1.1.0" is ${expected}`]);
});

test.each([
  ['aWNv\\nbg==', true],
  ['aWN vbg==', true],
  // Go's decoder takes line ends, and opm removes spaces; nothing removes a tab.
  ['aWNv\\tbg==', false],
])('the icon %j is that of the package, if Go can decode it: %s', async (data, isThere) => {
  const folder = await readPackageFolder(
    sourceOf({
      'etcd.package.yaml': 'packageName: etcd\nchannels: [{name: stable, currentCSV: etcd.v1.0.0}]\n',
      '1.0.0/csv.yaml': csv('1.0.0', `icon: [{base64data: "${data}", mediatype: image/png}]`),
    }),
  );
  expect(convertPackage(folder).json?.includes('"base64data": "aWNvbg=="')).toBe(isThere);
});
