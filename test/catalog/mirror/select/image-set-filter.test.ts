import { expect, test } from 'vitest';
import { load } from '../../../../catalog/fbc/load.ts';
import type { PackageSelection } from '../../../../catalog/mirror/image-set.ts';
import { filterImageSet } from '../../../../catalog/mirror/select/image-set-filter.ts';
import { opmFindings } from '../../../../catalog/rules/opm.ts';
import { sourceOf } from '../../../../catalog/source.ts';

const bundle = (version: string): string =>
  `---\nschema: olm.bundle\npackage: p\nname: p.v${version}\nimage: quay.io/p/bundle:v${version}\n` +
  `properties: [{type: olm.package, value: {packageName: p, version: ${version}}}]\n`;
const channel = (name: string, entries: string): string =>
  `---\nschema: olm.channel\npackage: p\nname: ${name}\nentries: [${entries}]\n`;

/** The version 1.1.0 is in `beta` alone. */
const CATALOG = [
  '---\nschema: olm.package\nname: p\ndefaultChannel: stable\n',
  channel('stable', '{name: p.v2.0.0, replaces: p.v1.1.0}'),
  channel('alpha', '{name: p.v1.0.0}'),
  channel('beta', '{name: p.v1.1.0, replaces: p.v1.0.0}, {name: p.v1.0.0}'),
  ...['1.0.0', '1.1.0', '2.0.0'].map(bundle),
  '---\nschema: olm.deprecations\npackage: p\nentries:\n',
  '- {reference: {schema: olm.bundle, name: p.v1.1.0}, message: old}\n',
].join('');

async function select(selection: Omit<PackageSelection, 'name'>) {
  const { blobs, findings } = await load(sourceOf({ 'catalog.yaml': CATALOG }));
  expect([...findings, ...opmFindings(blobs)]).toEqual([]);
  const chosen = { catalog: 'quay.io/c:v1', full: false, packages: [{ ...selection, name: 'p' }] };
  const filtered = filterImageSet(blobs, chosen);
  const named = (them: readonly { readonly name: string }[]): string[] => them.map(({ name }) => name).sort();
  return {
    channels: named(filtered.blobs.channels),
    bundles: named(filtered.blobs.bundles),
    mirrored: named(filtered.mirrored),
    findings: filtered.findings.map(({ message }) => message),
    opm: opmFindings(filtered.blobs).map(({ message }) => message),
  };
}

test('a version that only a channel has that is not selected is mirrored, and is not in the catalog', async () => {
  const channels = [{ name: 'stable' }, { name: 'alpha', minVersion: '1.1.0', maxVersion: '1.1.0' }];
  expect(await select({ channels })).toEqual({
    channels: ['stable'],
    bundles: ['p.v2.0.0'],
    mirrored: ['p.v1.1.0', 'p.v2.0.0'],
    findings: [],
    opm: [],
  });
});

test('what a range replaces and no selected channel lists is mirrored, and is not in the catalog', async () => {
  expect(await select({ channels: [{ name: 'stable', minVersion: '1.0.0' }] })).toEqual({
    channels: ['stable'],
    bundles: ['p.v2.0.0'],
    mirrored: ['p.v1.1.0', 'p.v2.0.0'],
    findings: [],
    opm: [],
  });
});

test.each([
  ['of the selection', 'alpha', { name: 'alpha', minVersion: '3.0.0' }, { name: 'stable' }],
  ['of the catalog', 'alpha', { name: 'stable', minVersion: '3.0.0' }, { name: 'alpha' }],
])('a default channel %s that nothing fits is refused', async (_, defaultChannel, empty, other) => {
  const { findings } = await select({ defaultChannel, channels: [empty, other] });
  expect(findings).toEqual([
    `package "p": no version of the default channel "${empty.name}" is selected; select one, or remove the channel and name another with defaultChannel`,
  ]);
});
