import { expect, test } from 'vitest';
import { channelsReaching } from '../../../catalog/bundle/generate.ts';
import { readPackageFolder } from '../../../catalog/bundle/package-manifest.ts';
import { sourceOf } from '../../../catalog/source.ts';

const csv = (version: string, replaces = ''): string =>
  `kind: ClusterServiceVersion\napiVersion: operators.coreos.com/v1alpha1\nmetadata: {name: a.v${version}}\nspec: {version: ${version}, replaces: "${replaces}"}\n`;

/** The channels of version 2.0.0, which replaces 1.0.0. */
async function channelsOf(channels: string): Promise<string[]> {
  const files = {
    'a.package.yaml': `packageName: a\nchannels: ${channels}\n`,
    '1.0.0/csv.yaml': csv('1.0.0'),
    '2.0.0/csv.yaml': csv('2.0.0', 'a.v1.0.0'),
  };
  return channelsReaching(await readPackageFolder(sourceOf(files)), 'a.v2.0.0');
}

test('a version is in the channels that reach it; of two channels of one name the last counts', async () => {
  const [newer, older] = ['{name: x, currentCSV: a.v2.0.0}', '{name: x, currentCSV: a.v1.0.0}'];
  expect(await channelsOf(`[${newer}]`)).toEqual(['x']);
  expect(await channelsOf(`[${older}, ${newer}]`)).toEqual(['x']);
  expect(await channelsOf(`[${newer}, ${older}]`)).toEqual([]);
});
