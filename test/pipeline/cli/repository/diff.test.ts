import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { portolan } from '../../../fakes/terminal.ts';

function bundles(): string {
  const root = folder();
  for (const [version, resource] of [
    ['1.0.0', 'pods'],
    ['1.1.0', 'secrets'],
  ]) {
    const path = join(root, `etcd/${version}/manifests/csv.yaml`);
    mkdirSync(dirname(path), { recursive: true });
    const rules = [{ apiGroups: [''], resources: [resource], verbs: ['get'] }];
    const install = { spec: { clusterPermissions: [{ serviceAccountName: 'a', rules }] } };
    const metadata = { name: `etcd.v${version}` };
    const csv = {
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'ClusterServiceVersion',
      metadata,
      spec: { install },
    };
    writeFileSync(path, JSON.stringify(csv));
  }
  return root;
}

test.each([
  ['text', '  ! new: secrets (get): in all namespaces'],
  ['json', '"text": "new: secrets (get)"'],
  ['html', '</span> new: secrets (get)</p>'],
])('two bundles as %s', async (format, found) => {
  const words = ['diff', '--bundle', 'etcd/1.0.0', 'etcd/1.1.0', '--format', format];
  const { exit, out } = await portolan(bundles(), ...words);
  expect(exit).toBe(0);
  expect(out).toContain(found);
});

test.each([
  [['--bundle', 'etcd/1.0.0', './etcd/2.0.0'], 'the directory ./etcd/2.0.0 does not exist'],
  [['--bundle', 'etcd', 'etcd/1.0.0'], 'etcd has no ClusterServiceVersion'],
  [['--bundle', 'etcd/1.0.0', 'etcd/1.1.0', '--format', 'markdown'], 'markdown'],
  [['etcd/1.0.0', 'etcd/1.1.0', '--format', 'html'], 'html'],
])('%j is refused', async (words, why) => {
  const { exit, err } = await portolan(bundles(), 'diff', ...words);
  expect([exit, err]).toEqual([2, expect.stringContaining(why)]);
});
