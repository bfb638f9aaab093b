import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workbench } from '../../../fakes/workbench.ts';

const { at, run, write, read } = workbench();

const filesIn = (path: string): string[] =>
  readdirSync(at(path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(at(path).length + 1))
    .sort();

const sample = readFileSync('test/catalogs/sample/catalogs/v4.20/ferry-operator/catalog.yaml', 'utf8');
const custom = '---\nschema: com.example.note\nname: ../a b\ntext: x   # as it was written\n';

test('there and back again, a catalog says the same', async () => {
  write('c/catalog.yaml', sample + custom);
  const before = await run('render', 'c');
  for (const [by, from, to] of [
    ['blob', 'c', 'blobs'],
    ['package', 'blobs', 'packages'],
    ['file', 'packages', 'one'],
  ] as const) {
    expect(await run('convert', from, '--by', by, '--to', to)).toMatchObject({ code: 0 });
    expect((await run('render', to)).out).toBe(before.out);
  }
  expect(filesIn('one')).toEqual(['catalog.yaml']);
  expect(filesIn('packages')).toEqual(['catalog.yaml', 'ferry-operator/catalog.yaml']);
});

test('blobs keep their texts, and their names lead nowhere', async () => {
  write('c/catalog.yaml', sample + custom);
  await run('convert', 'c', '--by', 'blob', '--to', 'out');
  expect(filesIn('out')).toContain('ferry-operator/package.yaml');
  expect(read('out/com.example.note-.._a_b.yaml')).toBe(custom);
});

test('names that differ by case only get files of their own', async () => {
  write('c.json', '{"schema":"x","name":"a"}{"schema":"x","name":"A"}{"schema":"x","name":"a"}');
  await run('convert', 'c.json', '--by', 'blob', '--to', 'out');
  expect(filesIn('out')).toEqual(['x-A-2.json', 'x-a-3.json', 'x-a.json']);
});

test('one file is in one format', async () => {
  write('c/a.yaml', 'schema: x\nname: a\n');
  write('c/b.json', '{"schema":"x","name":"b"}');
  const refused = await run('convert', 'c', '--by', 'file', '--to', 'out');
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.err).toContain('use -o json or -o yaml');
  expect(await run('convert', 'c', '--by', 'file', '--to', 'out', '-o', 'yaml')).toMatchObject({ code: 0 });
  expect(read('out/catalog.yaml')).toBe('---\nname: a\nschema: x\n---\nname: b\nschema: x\n');
});

test('JSON that is YAML is converted as YAML', async () => {
  write('c/a.json', '{"schema": "x", "name": "a",}  # why not\n');
  expect(await run('convert', 'c', '--by', 'blob', '--to', 'out')).toMatchObject({ code: 0 });
  expect(read('out/x-a.yaml')).toContain('# why not');
});

test('what is broken or in the way is refused', async () => {
  write('c/a.yaml', 'schema: [');
  write('full/a.yaml', 'schema: x\n');
  expect(await run('convert', 'c', '--to', 'out')).toMatchObject({ code: 1 });
  expect(await run('convert', 'full', '--to', 'full')).toMatchObject({ code: 2 });
  expect(await run('convert', 'full', '--to', 'out', '--by', 'letter')).toMatchObject({ code: 2 });
  expect(await run('convert', 'none', '--to', 'out')).toMatchObject({ code: 2 });
});

test('a package that cannot be converted is not written, not in part either', async () => {
  const csv = readFileSync('test/catalogs/bundle/manifests/csv.yaml', 'utf8');
  const crd = readFileSync('test/catalogs/bundle/manifests/crd.yaml', 'utf8');
  write(
    'p/etcd.package.yaml',
    'packageName: etcd\nchannels: [{name: stable, currentCSV: etcd.v1.0.0}]\ndefaultChannel: stable\n',
  );
  write('p/1.0.0/csv.yaml', csv);
  write('p/1.0.0/crd.yaml', crd);
  const sound = await run('convert', 'package-manifests', 'p', '--bundles', 'sound');
  expect(sound).toMatchObject({ code: 0 });
  expect(filesIn('sound')).toContain('bundle-1.0.0/bundle/manifests/csv.yaml');
  write('p/again/csv.yaml', csv);
  write('p/again/crd.yaml', crd);
  const twice = await run('convert', 'package-manifests', 'p', '--bundles', 'twice');
  expect(twice).toMatchObject({ code: 1, out: '' });
  expect(twice.err).toContain('package-manifest/csv-duplicate');
  expect(readdirSync(at('.'))).not.toContain('twice');
});

test('numbers in a package file are text, as all tools read them', async () => {
  const csv = readFileSync('test/catalogs/bundle/manifests/csv.yaml', 'utf8');
  write('p/1.0.0/csv.yaml', csv);
  write('p/1.0.0/crd.yaml', readFileSync('test/catalogs/bundle/manifests/crd.yaml', 'utf8'));
  const named = 'packageName: etcd\nchannels: [{name: 4.6, currentCSV: etcd.v1.0.0}]\n';
  write('p/etcd.package.yaml', `${named}defaultChannel: 4.6\n`);
  const converted = await run('convert', 'package-manifests', 'p');
  expect(converted).toMatchObject({ code: 0 });
  expect(converted.out).toContain('"defaultChannel": "4.6"');
  write('p/etcd.package.yaml', `${named}defaultChannel: [4.6]\n`);
  expect((await run('convert', 'package-manifests', 'p')).err).toContain('defaultChannel must be');
});

/** A package with one version, which needs no CRDs. */
function writePackage(folder: string, annotations = '{}'): void {
  write(
    'p/etcd.package.yaml',
    'packageName: etcd\nchannels: [{name: stable, currentCSV: etcd.v1.0.0}]\ndefaultChannel: stable\n',
  );
  write(
    `p/${folder}csv.yaml`,
    `apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: etcd.v1.0.0\n  annotations: ${annotations}\nspec:\n  version: 1.0.0\n`,
  );
}

test('81: a link out of the folder gets into no bundle', async () => {
  writePackage('1.0.0/');
  write('secret.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: secret}\n');
  symlinkSync(at('secret.yaml'), at('p/1.0.0/link.yaml'));
  const { out, err } = await run('convert', 'package-manifests', 'p', '--bundles', 'out');
  expect(out).not.toContain('secret');
  expect(err).toContain('1.0.0/link.yaml: error: a link out of the directory');
  expect(readdirSync(at('.'))).not.toContain('out');
});

test('bundles keep the configuration of scorecard and what operator-sdk noted', async () => {
  writePackage('1.0.0/', '{operators.operatorframework.io/builder: operator-sdk-v1.2.0}');
  expect(await run('convert', 'package-manifests', 'p', '--bundles', 'plain')).toMatchObject({ code: 0 });
  expect(read('plain/bundle-1.0.0/bundle.Dockerfile')).not.toContain('scorecard');
  write('p/1.0.0/score.yaml', 'apiVersion: scorecard.operatorframework.io/v1alpha3\nkind: Configuration\n');
  expect(await run('convert', 'package-manifests', 'p', '--bundles', 'tested')).toMatchObject({ code: 0 });
  expect(filesIn('tested')).toEqual([
    'bundle-1.0.0/bundle.Dockerfile',
    'bundle-1.0.0/bundle/manifests/csv.yaml',
    'bundle-1.0.0/bundle/metadata/annotations.yaml',
    'bundle-1.0.0/bundle/tests/scorecard/config.yaml',
  ]);
  const labels = read('tested/bundle-1.0.0/bundle.Dockerfile');
  expect(labels).toContain('LABEL operators.operatorframework.io/builder=operator-sdk-v1.2.0\n');
  expect(labels).toMatch(
    /LABEL .*test\.config\.v1=tests\/scorecard\/\n[\s\S]*COPY bundle\/tests\/scorecard /,
  );
  expect(read('tested/bundle-1.0.0/bundle/metadata/annotations.yaml')).toMatch(
    / {2}operators\.operatorframework\.io\/builder: operator-sdk-v1\.2\.0\n\n {2}# Annotations for testing\.\n/,
  );
});

test('files come into bundles byte for byte', async () => {
  writePackage('1.0.0/');
  const texts = {
    'crd.yaml': '\ufeffapiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
    'icon.png': '\x89PNG\xff',
  };
  for (const [name, text] of Object.entries(texts))
    writeFileSync(at(`p/1.0.0/${name}`), text, name === 'icon.png' ? 'latin1' : 'utf8');
  expect(await run('convert', 'package-manifests', 'p', '--bundles', 'out')).toMatchObject({ code: 0 });
  for (const name of Object.keys(texts))
    expect(readFileSync(at(`out/bundle-1.0.0/bundle/manifests/${name}`))).toEqual(
      readFileSync(at(`p/1.0.0/${name}`)),
    );
});

test('a version beside the package file is converted to a catalog, but not to a bundle', async () => {
  writePackage('');
  const catalog = await run('convert', 'package-manifests', 'p');
  expect(catalog).toMatchObject({ code: 0 });
  expect(catalog.err).toContain('(package-manifest/version-folder)');
  const bundles = await run('convert', 'package-manifests', 'p', '--bundles', 'out');
  expect(bundles).toMatchObject({ code: 1, out: '' });
  expect(bundles.err).toContain('has no folder, so its files cannot be told from those of the package');
});
