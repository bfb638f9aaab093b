import { expect, test } from 'vitest';
import { fleetFile, safeImages } from '../../../fakes/safe-images.ts';
import { portolan } from '../../../fakes/terminal.ts';

interface Datasource {
  readonly releases: readonly {
    readonly version: string;
    readonly digest: string;
    readonly releaseTimestamp: string;
  }[];
}

test('lists the images that strand no installation of the fleet, the oldest first', async () => {
  const { host, image, digests } = await safeImages();
  const list = async (row: string, ...words: readonly string[]) => {
    const ran = await portolan(
      '.',
      'renovate',
      image,
      '--insecure',
      host,
      '--fleet',
      fleetFile(row),
      ...words,
    );
    expect(ran.exit, ran.err).toBe(0);
    const { releases }: Datasource = JSON.parse(ran.out);
    return { ...ran, releases, digests: releases.map(({ digest }) => digest) };
  };
  const harmed = await list('c1,4.20,v0,lighthouse-operator,2.0.0,stable');
  expect(harmed.digests).toEqual([digests.base, digests.safe]);
  expect(harmed.err).toContain('not listed, because it would strand installations on 1 cluster\n');
  expect(harmed.err).toContain('3 images: 2 safe, 1 would strand installations, 0 could not be checked');
  for (const { version, releaseTimestamp } of harmed.releases) {
    expect(version).toMatch(/^v4\.20-\d{14}-[0-9a-f]{12}$/);
    expect(new Date(releaseTimestamp).toISOString().replace(/\D/g, '').slice(0, 14)).toBe(
      version.slice(6, 20),
    );
  }
  // Nobody of these is stranded: an other version, an other resolver, an other platform, an other package.
  for (const row of [
    'c1,4.20,v0,lighthouse-operator,2.1.0,stable',
    'c1,4.20,v1,lighthouse-operator,2.0.0,stable',
    'c1,4.19,v0,lighthouse-operator,2.0.0,stable',
    'c1,4.20,v0,ferry-operator,1.0.0,stable',
  ])
    expect((await list(row)).digests, row).toEqual(Object.values(digests));
  // The images before the first one that is looked at are unknown: it is where clusters start.
  expect((await list('c1,4.20,v0,lighthouse-operator,2.0.0,stable', '--last', '1')).digests).toEqual([
    digests.stranding,
  ]);
});

test('lists nothing where the fleet is not known', async () => {
  const words = ['renovate', 'registry.example.com/sea/catalog:v4.20'];
  expect(await portolan('.', ...words)).toMatchObject({
    exit: 2,
    out: '',
    err: expect.stringContaining('--fleet needs'),
  });
  const odd = fleetFile(
    'c1,4.20,v0,lighthouse-operator,2.0.0,stable',
    'c2,not a platform,v9,lighthouse-operator,,stable',
  );
  expect(await portolan('.', ...words, '--fleet', odd)).toMatchObject({
    exit: 2,
    out: '',
    err: expect.stringContaining('of the fleet cannot be read: no image counts as safe'),
  });
});

test('says that a path or another text is not an image', async () => {
  for (const text of ['/var/catalog', 'Quay.io/X', '']) {
    expect(await portolan('.', 'renovate', text)).toMatchObject({
      exit: 2,
      err: expect.stringMatching(/^portolan: ".*" is not a valid image: /),
    });
  }
});
