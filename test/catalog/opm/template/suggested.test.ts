import { describe, expect, test } from 'vitest';
import { worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { AS_TODAY } from '../../../../catalog/olm/suggest/policy.ts';
import { suggestGraph } from '../../../../catalog/olm/suggest/suggestion.ts';
import { readVersionList } from '../../../../catalog/olm/suggest/version-list.ts';
import { channelsOf } from '../../../../catalog/opm/template/semver.ts';
import { basicTemplate, semverTemplate, withoutImage } from '../../../../catalog/opm/template/suggested.ts';
import { catalogFrom } from '../../olm/universe.ts';

const VERSIONS = ['1.0.0', '1.0.1', '1.1.0', '2.0.0-rc.1', '2.0.0'];
const IMAGE = 'quay.io/example/p:v';

function packageOf(versions: readonly string[]): NonNullable<ReturnType<typeof find>> {
  const found = find(versions);
  if (!found) throw new Error('the package is missing');
  return found;
}

function find(versions: readonly string[]) {
  const text = versions.map((version) => `${version} p.v${version} ${IMAGE}${version}`).join('\n');
  return readVersionList('p', text).packages.get('p');
}

describe('a template for a suggested graph', () => {
  test('basic: the channels, and the images of what they have', async () => {
    const catalog = await catalogFrom({
      p: {
        versions: ['1.0.0', '1.1.0'],
        channels: { a: [{ name: 'p.v1.0.0' }, { name: 'p.v1.1.0', replaces: 'p.v1.0.0' }] },
        deprecated: ['1.0.0'],
      },
    });
    const ofPackage = catalog.packages.get('p');
    if (!ofPackage) throw new Error('the package is missing');
    const suggestion = suggestGraph(await worldOf({ name: 'c', catalog }), ofPackage, AS_TODAY);
    expect(basicTemplate(ofPackage, suggestion)).toEqual({
      schema: 'olm.template.basic',
      entries: [
        { schema: 'olm.package', name: 'p', defaultChannel: 'a' },
        {
          schema: 'olm.channel',
          package: 'p',
          name: 'a',
          entries: [{ name: 'p.v1.1.0', replaces: 'p.v1.0.0' }],
        },
        { schema: 'olm.bundle', image: 'quay.io/example/p:v1.1.0' },
      ],
    });
  });

  test('semver: every version that may be installed, pre-releases as candidates', () => {
    expect(semverTemplate(packageOf(VERSIONS), { kind: 'minor', avoid: new Set(['p.v1.0.0']) })).toEqual({
      schema: 'olm.semver',
      generateMajorChannels: false,
      generateMinorChannels: true,
      candidate: { bundles: [{ image: `${IMAGE}2.0.0-rc.1` }] },
      stable: { bundles: ['1.0.1', '1.1.0', '2.0.0'].map((one) => ({ image: `${IMAGE}${one}` })) },
    });
  });

  test('semver: each version gets to the newest one of its channel, under both resolvers', async () => {
    const { bundles } = packageOf(VERSIONS);
    const versions = [...bundles.values()].flatMap(({ name, version }) =>
      version ? [[name, version] as const] : [],
    );
    const of = (wanted: boolean) =>
      new Map(versions.filter(([, { prerelease }]) => (prerelease.length === 0) === wanted));
    const { channels } = channelsOf(
      { candidate: of(false), fast: new Map(), stable: of(true) },
      { kinds: ['major'], preference: 'major' },
    );
    const catalog = await catalogFrom({
      p: {
        versions: VERSIONS,
        channels: Object.fromEntries(channels.map(({ name, entries }) => [name, entries])),
      },
    });
    const { foresight } = await worldOf({ name: 'c', catalog });
    for (const { name, entries } of channels) {
      for (const entry of entries) {
        const installed = { name: entry.name, version: bundles.get(entry.name)?.version };
        expect(foresight.v0({ package: 'p', channel: name }, installed).arrives).toBe(true);
        expect(foresight.v1({ package: 'p', channels: [name] }, installed).arrives).toBe(true);
      }
    }
  });

  test('names the bundles whose image is unknown', async () => {
    const catalog = readVersionList('p', '1.0.0\n1.1.0 p.v1.1.0 quay.io/example/p:v1.1.0\n');
    const ofPackage = catalog.packages.get('p');
    if (!ofPackage) throw new Error('the package is missing');
    const policy = { ...AS_TODAY, channels: ['stable' as const] };
    const suggestion = suggestGraph(await worldOf({ name: 'c', catalog }), ofPackage, policy);
    expect(withoutImage(ofPackage, { ...suggestion, dropped: [] })).toEqual(['p.v1.0.0']);
    expect(withoutImage(ofPackage, { ...suggestion, dropped: ['p.v1.0.0'] })).toEqual([]);
  });
});
