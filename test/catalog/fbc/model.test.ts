import { expect, test } from 'vitest';
import { load } from '../../../catalog/fbc/load.ts';
import { catalogOf } from '../../../catalog/fbc/model.ts';
import { sourceOf } from '../../../catalog/source.ts';

test('catalogOf groups blobs by package; of two with one name the first counts', async () => {
  const { blobs } = await load(
    sourceOf({
      'c.yaml': [
        'schema: olm.package\nname: a\ndefaultChannel: stable\n',
        'schema: olm.package\nname: a\ndefaultChannel: other\n',
        'schema: olm.channel\npackage: a\nname: stable\nentries: [{name: a.v1}]\n',
        'schema: olm.channel\npackage: b\nname: stable\n',
        'schema: olm.deprecations\npackage: a\nentries:\n- {reference: {schema: olm.package}, message: gone}\n- {reference: {schema: olm.bundle, name: a.v1}, message: old}\n',
      ].join('---\n'),
    }),
  );
  const { packages } = catalogOf(blobs);
  const a = packages.get('a');
  expect([...packages.keys()]).toEqual(['a', 'b']);
  expect(a?.defaultChannel).toBe('stable');
  expect(a?.deprecation).toBe('gone');
  expect(a?.deprecatedBundles.get('a.v1')).toBe('old');
  expect(packages.get('b')).toMatchObject({ blob: undefined, defaultChannel: '' });
});
