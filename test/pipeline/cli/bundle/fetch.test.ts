import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { bundle, documents } from '../../../fakes/gate.ts';
import { registry } from '../../../fakes/registry.ts';
import { portolan } from '../../../fakes/terminal.ts';

function catalogOf(images: Readonly<Record<string, string>>): string {
  const names = Object.keys(images).map((version) => ({ name: `etcd.v${version}` }));
  return documents(
    { schema: 'olm.package', name: 'etcd', defaultChannel: 'stable' },
    { schema: 'olm.channel', package: 'etcd', name: 'stable', entries: names },
    ...Object.entries(images).map(([version, image]) => bundle('etcd', version, { image })),
  );
}

test('images are fetched once, into directories that audit reads', async () => {
  const root = folder();
  const far = await registry();
  cpSync('test/catalogs/bundle', join(root, 'source'), { recursive: true });
  const words = ['--insecure', far.host];
  const pushed = await portolan(root, 'bundle', 'push', 'source', `${far.host}/org/etcd:v1`, ...words);
  mkdirSync(join(root, 'catalog'));
  const images = {
    '1.0.0': `${far.host}/org/etcd@${pushed.out.trim()}`,
    '1.1.0': `${far.host}/org/etcd:absent`,
    '1.2.0': 'oci:source',
  };
  writeFileSync(join(root, 'catalog/catalog.yaml'), catalogOf(images));
  const fetch = () => portolan(root, 'bundle', 'fetch', 'catalog', '--to', 'bundles', ...words);
  const mistyped = ['--package', 'etcd', '--package', 'etdc'];
  expect(await portolan(root, 'bundle', 'fetch', 'catalog', '--to', 'bundles', ...mistyped)).toMatchObject({
    exit: 2,
    err: expect.stringContaining('no catalog has the package "etdc"'),
  });
  const first = await fetch();
  expect(first.exit).toBe(2);
  expect(first.err).toMatch(/etcd\.v1\.1\.0: image .* not found/);
  expect(first.err).toContain('1 bundle fetched, 0 already existed, 2 failed');
  expect(readFileSync(join(root, 'bundles/etcd/1.0.0/manifests/csv.yaml'), 'utf8')).toBe(
    readFileSync('test/catalogs/bundle/manifests/csv.yaml', 'utf8'),
  );
  expect(existsSync(join(root, 'bundles/etcd/1.2.0'))).toBe(false);
  expect((await fetch()).err).toContain('0 bundles fetched, 1 already existed, 2 failed');
});
