import { describe, expect, test } from 'vitest';
import { load } from '../../../../catalog/fbc/load.ts';
import { catalogOf } from '../../../../catalog/fbc/model.ts';
import { type Answers, answersOf, NoAnswer } from '../../../../catalog/opm/serve/answers.ts';
import { sourceOf } from '../../../../catalog/source.ts';

async function answers(text: string): Promise<Answers> {
  const { blobs, findings } = await load(sourceOf({ 'catalog.yaml': text }));
  expect(findings).toEqual([]);
  return answersOf(catalogOf(blobs));
}

const bundle = (version: string, more = ''): string => `---
schema: olm.bundle
package: etcd
name: etcd.v${version}
image: quay.io/org/etcd:v${version}
properties:
- {type: olm.package, value: {packageName: etcd, version: ${version}}}
- {type: olm.gvk, value: {group: etcd.io, kind: Etcd, version: v1}}
- {type: olm.csv.metadata, value: {displayName: Etcd}}
${more}`;

const CATALOG = `schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries:
- {name: etcd.v1.0.0}
- {name: etcd.v1.1.0, replaces: etcd.v1.0.0, skips: [etcd.v1.0.0, etcd.v0.9.0]}
---
schema: olm.channel
package: etcd
name: old
entries: [{name: etcd.v1.0.0}]
---
schema: olm.deprecations
package: etcd
entries:
- {reference: {schema: olm.package}, message: leave}
- {reference: {schema: olm.channel, name: old}, message: old}
- {reference: {schema: olm.bundle, name: etcd.v1.0.0}, message: go on}
${bundle('1.0.0')}${bundle('1.1.0')}`;

test('packages with the heads of their channels and what is deprecated', async () => {
  const { getPackage, listPackages } = await answers(CATALOG);
  expect(listPackages()).toEqual([{ name: 'etcd' }]);
  expect(getPackage('etcd')).toEqual({
    name: 'etcd',
    channels: [
      { name: 'old', csvName: 'etcd.v1.0.0', deprecation: { message: 'old' } },
      { name: 'stable', csvName: 'etcd.v1.1.0' },
    ],
    defaultChannelName: 'stable',
    deprecation: { message: 'leave' },
  });
});

test('a bundle by itself has its manifests and no edges, in a list edges and no manifests', async () => {
  const { getBundle, listBundles } = await answers(CATALOG);
  const one = getBundle('etcd', 'stable', 'etcd.v1.1.0');
  expect(one).toMatchObject({ bundlePath: 'quay.io/org/etcd:v1.1.0', version: '1.1.0' });
  expect(one.csvJson).toContain('"displayName":"Etcd"');
  expect(one).not.toHaveProperty('replaces');
  const listed = [...listBundles()];
  expect(listed.map(({ channelName, csvName }) => `${channelName} ${csvName}`)).toEqual([
    'stable etcd.v1.0.0',
    'stable etcd.v1.1.0',
    'old etcd.v1.0.0',
  ]);
  expect(listed[1]).toMatchObject({ replaces: 'etcd.v1.0.0', skips: ['etcd.v1.0.0', 'etcd.v0.9.0'] });
  expect(listed.filter((each) => 'csvJson' in each || 'object' in each)).toEqual([]);
  expect(listed[0]?.deprecation).toEqual({ message: 'go on' });
});

test('manifests are listed where there is no image to get them from', async () => {
  const csv = Buffer.from('{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion"}');
  const { listBundles } = await answers(
    CATALOG.replace('image: quay.io/org/etcd:v1.1.0\n', '').replaceAll(
      '- {type: olm.csv.metadata, value: {displayName: Etcd}}',
      `- {type: olm.bundle.object, value: {data: ${csv.toString('base64')}}}`,
    ),
  );
  expect([...listBundles()].map(({ object }) => object?.length ?? 0)).toEqual([0, 1, 0]);
});

test('entries that replace, once for each edge; a skip that is the replacement too counts once', async () => {
  const { getChannelEntriesThatReplace } = await answers(CATALOG);
  const entry = {
    packageName: 'etcd',
    channelName: 'stable',
    bundleName: 'etcd.v1.1.0',
    replaces: 'etcd.v1.0.0',
  };
  expect(getChannelEntriesThatReplace('etcd.v1.0.0')).toEqual([entry]);
  expect(getChannelEntriesThatReplace('etcd.v0.9.0')).toEqual([entry]);
});

test('who provides a kind: every entry and what it skips, or the heads', async () => {
  const given = await answers(CATALOG);
  const kind = { group: 'etcd.io', version: 'v1', kind: 'Etcd' };
  expect(given.getChannelEntriesThatProvide(kind).map(({ replaces }) => replaces)).toEqual([
    '',
    'etcd.v1.0.0',
    'etcd.v0.9.0',
    '',
  ]);
  // What is skipped and not in the channel is no entry of it.
  expect(given.getLatestChannelEntriesThatProvide(kind)).toHaveLength(2);
  expect(given.getDefaultBundleThatProvides(kind).csvName).toBe('etcd.v1.1.0');
});

describe('what is not there has no answer, in the words of opm', () => {
  test.each<[string, (given: Answers) => unknown]>([
    ['package "nope" not found', ({ getPackage }) => getPackage('nope')],
    ['package nope not found', (given) => given.getBundleThatReplaces('a', 'nope', 'b')],
    ['package "etcd", channel "c" not found', (given) => given.getBundleForChannel('etcd', 'c')],
    [
      'package "etcd", channel "stable", bundle "b" not found',
      ({ getBundle }) => getBundle('etcd', 'stable', 'b'),
    ],
    [
      'no entry found for package "etcd", channel "old"',
      (given) => given.getBundleThatReplaces('a', 'etcd', 'old'),
    ],
    ['no channel entries found that replace a"b', (given) => given.getChannelEntriesThatReplace('a"b')],
    [
      'no channel entries found that provide group:"g" version:"v" kind:"k"',
      (given) => given.getDefaultBundleThatProvides({ group: 'g', version: 'v', kind: 'k' }),
    ],
  ])('%s', async (message, ask) => {
    const given = await answers(CATALOG);
    expect(() => ask(given)).toThrow(new NoAnswer(message));
  });
});
