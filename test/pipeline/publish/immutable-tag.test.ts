/** Tags that never move. */
import { expect, test } from 'vitest';
import { immutableTag, tagForGood, versionIn, versionOf } from '../../../pipeline/publish/immutable-tag.ts';
import { testClient } from '../../fakes/host.ts';
import { manifestOf } from '../../fakes/image.ts';
import { registry } from '../../fakes/registry.ts';

const NOW = Date.UTC(2026, 10, 24);
const ID = '0123456789abcdef0123456789abcdef01234567';

test('the tag has the time of the commit in UTC, and its id', () => {
  const version = versionOf({ id: ID, time: Date.UTC(2026, 10, 23, 10, 15) / 1000 }, NOW);
  expect(immutableTag('v4.20', version)).toBe('v4.20-20261123101500-0123456789ab');
  expect(versionIn('v4.20-20261123101500-0123456789ab', 'v4.20')).toBe(version);
});

test.each([
  'v4.20',
  'v4.20-20261123101500',
  'v4.20-20261123101500-0123456789ab.sig',
  'v4.21-20261123101500-0123456789ab',
  'v4.20-rc-20261123101500-0123456789ab',
])('%s is not an immutable tag of v4.20', (tag) => {
  expect(versionIn(tag, 'v4.20')).toBeUndefined();
});

test.each([Number.NaN, -1, 1.5])('a commit of the impossible time %d has a tag all the same', (time) => {
  expect(versionOf({ id: ID, time }, NOW)).toBe('19700101000000-0123456789ab');
});

test.each([Date.UTC(3270, 0) / 1000, 1e300])('a commit from the future, of %d, is from now', (time) => {
  expect(versionOf({ id: ID, time }, NOW)).toBe('20261124000000-0123456789ab');
});

test('a tag of the greatest length stays within it, and is found again', () => {
  const long = 'v'.repeat(128);
  const tag = immutableTag(long, '20261123101500-0123456789ab');
  expect(tag).toHaveLength(128);
  expect(versionIn(tag, long)).toBe('20261123101500-0123456789ab');
});

test('a second image of a commit gets a tag with its digest; the first tag does not move', async () => {
  const { host } = await registry();
  const client = testClient([host]);
  const published = { kind: 'tag', registry: host, repository: 'sea/catalog', tag: 'v4.20' } as const;
  const type = 'application/vnd.oci.image.index.v1+json';
  const [one, other] = ['one', 'other'].map((name) =>
    manifestOf(type, { schemaVersion: 2, mediaType: type, manifests: [], annotations: { name } }),
  );
  if (!one || !other) throw new Error('two manifests');
  const version = '20261123101500-0123456789ab';
  const tags = [];
  for (const manifest of [one, other, one, other]) {
    const name = await tagForGood(client, published, { manifest, version });
    tags.push(name.slice(name.lastIndexOf(':') + 1));
  }
  const [plain, digested] = [`v4.20-${version}`, `v4.20-${version}-${other.digest.slice(7, 15)}`];
  expect(tags).toEqual([plain, digested, plain, digested]);
  expect((await client.resolve({ ...published, tag: plain }))?.digest).toBe(one.digest);
  expect(versionIn(digested, 'v4.20')).toBe(`${version}-${other.digest.slice(7, 15)}`);
});
