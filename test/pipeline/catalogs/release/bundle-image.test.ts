import { expect, test } from 'vitest';
import { addedBundles } from '../../../../pipeline/catalogs/release/bundle-image.ts';
import { openRepository } from '../../../../pipeline/git/repository.ts';
import { readPolicy } from '../../../../pipeline/policy/read-policy.ts';
import { bundleFiles } from '../../../fakes/operators.ts';
import { makeRepository } from '../../../fakes/repository.ts';

test('a folder becomes a bundle with its manifests, also if it had settings before', async () => {
  const source = makeRepository();
  const before = source.commit({
    'operators/etcd/1.0.0/release-config.yaml': 'catalog_templates: []\n',
    'operators/etcd/1.1.0/release-config.yaml': 'catalog_templates: []\n',
    ...bundleFiles('etcd', '0.9.0'),
  });
  const after = source.commit(
    {
      ...bundleFiles('etcd', '0.9.0', 'catalog_templates: []\n'),
      ...bundleFiles('etcd', '1.0.0'),
      'operators/etcd/1.1.0/release-config.yaml': '{}\n',
    },
    { parents: [before] },
  );
  const repository = await openRepository(source.directory, { searchPath: process.env['PATH'] });
  try {
    const { policy } = readPolicy(undefined);
    if (!policy) throw new Error('no policy');
    const added = await addedBundles(repository.objects, { before, after }, policy);
    expect(added.map(({ version }) => version)).toEqual(['1.0.0']);
  } finally {
    await repository.close();
    source.remove();
  }
});
