import { expect, test } from 'vitest';
import { load } from '../../../../catalog/fbc/load.ts';
import { sourceOf } from '../../../../catalog/source.ts';
import { differenceOf } from '../../../../pipeline/check/content/template-difference.ts';
import { bundle, documents } from '../../../fakes/gate.ts';

test('bundles without an image are compared by name', async () => {
  const blobsOf = async (...names: readonly string[]) => {
    const bundles = names.map((version) => bundle('etcd', version, { image: '' }));
    const text = documents({ schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' }, ...bundles);
    return (await load(sourceOf({ 'catalog.yaml': text }))).blobs;
  };
  const [one, two] = [await blobsOf('1.0.0'), await blobsOf('1.0.0', '1.1.0')];
  expect(differenceOf(two, two)).toBeUndefined();
  expect(differenceOf(two, one)?.text).toBe('the bundle "etcd.v1.1.0" is only in the template');
  expect(differenceOf(one, two)?.text).toBe('the bundle "etcd.v1.1.0" is only in the catalog');
});
