import { describe, expect, test } from 'vitest';
import { worldOf } from '../../../../catalog/olm/foresight/world.ts';
import { AS_TODAY, type ChannelScheme } from '../../../../catalog/olm/suggest/policy.ts';
import { suggestGraph } from '../../../../catalog/olm/suggest/suggestion.ts';
import { readVersionList } from '../../../../catalog/olm/suggest/version-list.ts';

const LIST = '1.0.0\n1.0.1 # fixed\n\n1.1.0 foo.v1.1.0 quay.io/example/foo:v1.1.0\n2.0.0-rc.1\n2.0.0\n';

/** Names of the entries of each channel. */
async function channels(schemes: readonly ChannelScheme[]): Promise<Record<string, string[]>> {
  const catalog = readVersionList('foo', LIST);
  const ofPackage = catalog.packages.get('foo');
  if (!ofPackage) throw new Error('the package is missing');
  const world = await worldOf({ name: 'foo', catalog });
  const suggestion = suggestGraph(world, ofPackage, { ...AS_TODAY, channels: schemes, stops: 'major' });
  expect(suggestion.stranded.suggested).toEqual([]);
  return Object.fromEntries(
    suggestion.channels.map(({ name, entries }) => [name, entries.map((one) => one.name)]),
  );
}

describe('a list of versions', () => {
  test('names bundles after the package, unless it names them itself', () => {
    const bundles = readVersionList('foo', LIST).packages.get('foo')?.bundles;
    expect([...(bundles?.values() ?? [])].map(({ name, image }) => [name, image])).toEqual([
      ['foo.v1.0.0', ''],
      ['foo.v1.0.1', ''],
      ['foo.v1.1.0', 'quay.io/example/foo:v1.1.0'],
      ['foo.v2.0.0-rc.1', ''],
      ['foo.v2.0.0', ''],
    ]);
  });

  test('becomes channels by its numbers, in which everybody gets to the head', async () => {
    expect(await channels(['stable'])).toEqual({ stable: ['foo.v1.1.0', 'foo.v2.0.0'] });
    expect(await channels(['stable', 'candidate'])).toEqual({
      stable: ['foo.v1.1.0', 'foo.v2.0.0'],
      candidate: ['foo.v1.1.0', 'foo.v2.0.0'],
    });
    expect(await channels(['minor'])).toEqual({
      'stable-v1.0': ['foo.v1.0.1'],
      'stable-v1.1': ['foo.v1.1.0'],
      'stable-v2.0': ['foo.v1.1.0', 'foo.v2.0.0'],
    });
    expect(await channels(['major'])).toEqual({
      'stable-v1': ['foo.v1.1.0'],
      'stable-v2': ['foo.v1.1.0', 'foo.v2.0.0'],
    });
  });

  test.each([
    ['1.0', 'line 1: "1.0" is not a version'],
    ['1.0.0\n1.0.0', 'line 2: the bundle foo.v1.0.0 is listed twice'],
    ['1.0.0 a b c', 'line 1: expected VERSION [NAME [IMAGE]]'],
    ['# none', 'it lists no versions'],
  ])('is refused: %j', (text, message) => {
    expect(() => readVersionList('foo', text)).toThrow(message);
  });
});
