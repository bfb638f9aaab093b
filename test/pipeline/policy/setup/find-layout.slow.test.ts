import { describe, expect, test } from 'vitest';
import { layoutAt } from '../../../fakes/found-layout.ts';
import { catalogOf } from '../../../fakes/gate.ts';

const etcd = catalogOf('etcd', ['1.0.0']);
const channel = 'schema: olm.channel\npackage: etcd\nname: stable\nentries: [{name: etcd.v1.0.0}]\n';
const bundle =
  'schema: olm.bundle\npackage: etcd\nname: etcd.v1.0.0\nimage: quay.io/a/b:v1\nproperties: [{type: olm.package, value: {packageName: etcd, version: 1.0.0}}]\n';
const bundleTemplate =
  'schema: olm.package\nname: etcd\ndefaultChannel: stable\n---\nschema: olm.bundle\nimage: quay.io/a/b:v1\n';

describe('the layout of a commit', () => {
  test('names a development catalog beside version folders by itself, so that no file is in two catalogs', async () => {
    const { found, contradictions } = await layoutAt({
      'catalog/v4.18/catalog.yaml': etcd,
      'catalog/v4.19/catalog.yaml': etcd,
      'catalog/etcd/package.yaml': 'schema: olm.package\nname: etcd\ndefaultChannel: stable\n',
      'catalog/etcd/channel.yaml': channel,
      'catalog/etcd/bundle.yaml': bundle,
      'README.md': 'x',
    });
    expect(contradictions).toEqual([]);
    expect(found.patterns).toEqual(['catalog/{catalog}/catalog.yaml', 'catalog/etcd/**']);
  });

  test('expects more files where the parts of a catalog have a folder to themselves', async () => {
    const at = (version: string): [string, string] => [
      `rendered/${version}.yaml`,
      bundle.replaceAll('1.0.0', version),
    ];
    const entries = 'entries: [{name: etcd.v1.0.0}, {name: etcd.v1.1.0, replaces: etcd.v1.0.0}]';
    const files = {
      'package.yaml': `schema: olm.package\nname: etcd\ndefaultChannel: stable\n---\n${channel.replace(/entries.*/, entries)}`,
      ...Object.fromEntries(['1.0.0', '1.1.0'].map(at)),
      'rendered/README.md': 'x',
    };
    const { found } = await layoutAt(files);
    expect(found.patterns).toEqual([
      { path: 'package.yaml', name: 'catalog' },
      { path: 'rendered/*.yaml', name: 'catalog' },
    ]);
    const mixed = await layoutAt({ ...files, 'rendered/settings.yaml': 'a: 1\n' });
    expect(mixed.found.patterns).toContainEqual({ path: 'rendered/1.1.0.yaml', name: 'catalog' });
  });

  test('says which package has no bundle, and does not leave the others of its file out', async () => {
    const packages = catalogOf('quay', ['1.0.0'])
      .split('\n')
      .filter((line) => !line.includes('olm.bundle'));
    const files = {
      'catalog/index.yaml': `schema: olm.package\nname: etcd\ndefaultChannel: stable\n---\n${channel}---\n${packages.join('\n---\n').replace(/---\n$/, '')}`,
      'catalog/etcd.yaml': bundle,
      'README.md': 'x',
    };
    const { found, contradictions } = await layoutAt(files);
    expect(found.patterns).toEqual([]);
    expect(contradictions).toEqual(['catalog catalog has no bundle of quay (catalog/index.yaml)']);
    // What a build makes of the files is not in the repository: they are not a catalog.
    const rendered = (to: string): string => `catalog:\n\topm render $(IMG) > ${to}\n`;
    const built = await layoutAt({ ...files, Makefile: rendered('catalog/quay.yaml') });
    expect(built.contradictions).toEqual([]);
    const reason = 'it has no bundle of quay before Makefile makes catalog/quay.yaml';
    expect(built.leftOut).toEqual([
      { path: 'catalog/etcd.yaml', reason },
      { path: 'catalog/index.yaml', reason },
    ]);
    for (const to of ['catalog/etcd.yaml', 'catalog/$(NAME).yaml', 'other/quay.yaml'])
      expect((await layoutAt({ ...files, Makefile: rendered(to) })).contradictions).toEqual(contradictions);
  });

  test('leaves out what an .indexignore file names, as opm does', async () => {
    const { found, leftOut, defects } = await layoutAt({
      'fbc/.indexignore': '*.json\ndrafts/\nOWNERS\n',
      'fbc/etcd/package.yaml': 'schema: olm.package\nname: etcd\ndefaultChannel: stable\n',
      'fbc/etcd/channel.yaml': channel,
      'fbc/etcd/bundle.yaml': bundle,
      'fbc/etcd/OWNERS': 'approvers: [bob]\n',
      'fbc/etcd/catalog.json': etcd,
      'fbc/etcd/drafts/bundle.yaml': bundle.replaceAll('1.0.0', '1.1.0'),
      'README.md': 'x',
    });
    expect([found.patterns, found.others, defects]).toEqual([['fbc/{package}/**'], [], []]);
    const reason = 'an .indexignore file names it, so opm does not read it';
    expect(leftOut).toEqual([
      { path: 'fbc/etcd/catalog.json', reason },
      { path: 'fbc/etcd/drafts/bundle.yaml', reason },
    ]);
  });

  test('finds blobs in files of any name where an index image has their folder', async () => {
    const files = {
      'olm/etcd/package.fbc': 'schema: olm.package\nname: etcd\ndefaultChannel: stable\n',
      'olm/etcd/stable.channel': channel,
      'olm/etcd/BUNDLE': bundle,
      'README.md': etcd,
    };
    const copied = (image: string): Record<string, string> => ({
      ...files,
      'build/Dockerfile': `FROM ${image}\nCOPY olm /data\n`,
    });
    const served = await layoutAt(copied('quay.io/operator-framework/opm:v1'));
    expect([served.found.patterns, served.defects]).toEqual([['olm/{package}/**'], []]);
    expect((await layoutAt(copied('scratch'))).found.patterns).toEqual([]);
  });

  test('takes a ConfigMap with a catalog in it for no template', async () => {
    const map = `kind: ConfigMap\ndata:\n  catalog.yaml: |\n${channel.replaceAll(/^/gm, '    ')}    entries:\n    - schema: olm.bundle\n`;
    expect((await layoutAt({ 'deploy/configmap.yaml': map })).looked.templates).toEqual([]);
    const template = 'entries:\n- schema: olm.bundle\n  image: quay.io/a/b:v1\n';
    expect((await layoutAt({ 'deploy/template.yaml': template })).looked.templates).toHaveLength(1);
  });

  test('names templates in a folder of that name, and none of tests', async () => {
    const { found, looked } = await layoutAt({
      'catalog/4.20/templates/base.in.yaml': bundleTemplate,
      'test/templates/base.in.yaml': bundleTemplate,
    });
    expect(found.patterns).toEqual([]);
    expect(looked.templates).toEqual(['catalog/4.20/templates/base.in.yaml']);
  });

  test.each([
    ['1.0.0', []],
    ['1.1.0', [expect.stringMatching(/^catalog fbc .*etcd\.v1\.1\.0.* is not an entry of any channel$/)]],
  ])('validates packages that are split over files: a bundle %s', async (version, expected) => {
    const { defects } = await layoutAt({
      'fbc/etcd/package.yaml': 'schema: olm.package\nname: etcd\ndefaultChannel: stable\n',
      'fbc/etcd/channel.yaml': channel,
      'fbc/etcd/bundle.yaml': bundle.replaceAll('1.0.0', version),
      'fbc/quay/catalog.yaml': catalogOf('quay', ['1.0.0']),
      'README.md': 'x',
    });
    expect(defects).toEqual(expected);
  });

  test('validates no file by itself if others have the rest of its package', async () => {
    const { defects } = await layoutAt({
      'fbc/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']).split('\n').slice(0, -2).join('\n'),
      'fbc/etcd/bundle.yaml': bundle.replaceAll('1.0.0', '1.1.0'),
      'fbc/quay/catalog.yaml': catalogOf('quay', ['1.0.0']),
      'fbc/quay/deprecations.yaml': 'schema: olm.deprecations\npackage: quay\nentries: []\n',
      'README.md': 'x',
    });
    expect(defects).toEqual([]);
  });

  test('leaves a channel without its package out, with the reason', async () => {
    const { found, leftOut } = await layoutAt({ 'channel-4.8.yaml': channel, 'README.md': 'x' });
    expect(found.patterns).toEqual([]);
    expect(leftOut).toEqual([
      { path: 'channel-4.8.yaml', reason: 'no olm.package blob beside it defines etcd' },
    ]);
  });

  test('says of a package and a channel without a bundle that the bundle is missing', async () => {
    const { leftOut } = await layoutAt({
      'catalog/package.yaml': 'schema: olm.package\nname: etcd\ndefaultChannel: stable\n',
      'catalog/channels.yaml': channel,
    });
    const reason = 'no bundle of etcd is beside it';
    expect(leftOut).toEqual([
      { path: 'catalog/channels.yaml', reason },
      { path: 'catalog/package.yaml', reason },
    ]);
  });

  test('lists catalogs in folders that nobody publishes as left out, with the reason', async () => {
    const { found, leftOut } = await layoutAt({
      'fbc/etcd/catalog.yaml': etcd,
      'vendor/example.com/index/configs/etcd/catalog.yaml': etcd,
      '_retired/etcd/catalog.yaml': etcd,
      'catalog-templates/etcd.yaml': etcd,
      'roles/fbc/molecule/default/index.yaml': etcd,
      'README.md': 'x',
    });
    expect(found.patterns).toEqual(['fbc/{package}/catalog.yaml']);
    expect(leftOut).toEqual([
      { path: 'catalog-templates/etcd.yaml', reason: 'a test, an example or a template' },
      { path: '_retired/etcd/catalog.yaml', reason: 'put away' },
      { path: 'roles/fbc/molecule/default/index.yaml', reason: 'a test, an example or a template' },
      {
        path: 'vendor/example.com/index/configs/etcd/catalog.yaml',
        reason: "a copy of another project's files",
      },
    ]);
  });

  test('takes bundles without names for a template, and a catalog with the same name for one', async () => {
    const template = await layoutAt({ 'components/v4.13.yaml': bundleTemplate });
    expect([template.found.patterns, template.looked.templates]).toEqual([[], ['components/v4.13.yaml']]);
    const catalog = await layoutAt({ 'components/v4.13.yaml': etcd });
    expect(catalog.found.patterns).toEqual(['components/{catalog}.yaml']);
  });

  test('finds a template whose schema is its last line, after 5,000 characters', async () => {
    const text = `entries:\n${'- schema: olm.bundle\n  image: quay.io/a/b:v1\n'.repeat(120)}schema: olm.template.basic\n`;
    const { looked } = await layoutAt({ 'catalog/v4.14/template.yaml': text });
    expect(looked.templates).toEqual(['catalog/v4.14/template.yaml']);
  });

  test('leaves out caches that a script names and no image has, where no layout fits them', async () => {
    const shipped = {
      'catalog/rhods-2.16/v4.17/etcd/catalog.yaml': etcd,
      'catalog/rhods-2.16/v4.18/etcd/catalog.yaml': etcd,
      'catalog/rhods-2.17/v4.17/etcd/catalog.yaml': etcd,
      'catalog/rhods-2.16/v4.17/Dockerfile': 'FROM scratch\nADD etcd /configs/etcd\n',
      'catalog/rhods-2.16/v4.18/Dockerfile': 'FROM scratch\nADD etcd /configs/etcd\n',
      'catalog/rhods-2.17/v4.17/Dockerfile': 'FROM scratch\nADD etcd /configs/etcd\n',
      'pcc/catalog-v4.17.yaml': etcd,
      'pcc/catalog-v4.18.yaml': etcd,
      'pcc/csv_meta_catalog.yaml': etcd,
      'pcc/csv_meta_catalog_v418.yaml': etcd,
    };
    const script =
      'opm render index > pcc/catalog-v4.17.yaml\nopm render index > pcc/csv_meta_catalog.yaml\n';
    const { found, leftOut } = await layoutAt({ ...shipped, 'regenerate.sh': script });
    expect(found.patterns).toEqual([
      { path: 'catalog/rhods-2.16/{catalog}/{package}/catalog.yaml', name: 'rhods-2.16-{catalog}' },
      { path: 'catalog/rhods-2.17/{catalog}/{package}/catalog.yaml', name: 'rhods-2.17-{catalog}' },
    ]);
    expect(leftOut.map(({ path }) => path)).toEqual([
      'pcc/catalog-v4.17.yaml',
      'pcc/catalog-v4.18.yaml',
      'pcc/csv_meta_catalog.yaml',
      'pcc/csv_meta_catalog_v418.yaml',
    ]);
    expect(leftOut[0]?.reason).toContain('no Dockerfile copies it');
    const building = `${script}opm generate dockerfile pcc\n`;
    const generated = await layoutAt({ ...shipped, 'regenerate.sh': building });
    expect(generated.leftOut.map(({ path }) => path)).not.toContain('pcc/catalog-v4.17.yaml');
  });

  test('lets an empty file among bundles be one of them', async () => {
    const parts = {
      'olm/release/package.yaml': 'schema: olm.package\nname: etcd\ndefaultChannel: stable\n',
      'olm/release/channel.yaml': channel,
      'olm/release/etcd.v1.0.0.bundle.yaml': bundle,
    };
    const { found } = await layoutAt({ ...parts, 'olm/release/etcd.v1.1.0.bundle.yaml': '' });
    expect(found.patterns).toEqual(['olm/**']);
    const other = await layoutAt({ ...parts, 'olm/release/values.yaml': 'a: 1\n' });
    expect(other.found.patterns).not.toEqual(['olm/**']);
  });

  test('takes files of one folder for catalogs, whether they are YAML or JSON', async () => {
    const { found, leftOut } = await layoutAt({
      'fbc/v4.19.yaml': etcd,
      'fbc/v4.20.json': etcd,
      'README.md': 'x',
    });
    expect([found.patterns, leftOut]).toEqual([['fbc/{catalog}.{json,yaml}'], []]);
  });

  test('names the catalogs of each package by its folder, where that lies above them', async () => {
    const { found } = await layoutAt({
      'operators/etcd/catalog/v4.19/catalog.yaml': etcd,
      'operators/etcd/catalog/v4.20/catalog.yaml': etcd,
      'operators/quay/catalog/v4.19/catalog.yaml': catalogOf('quay', ['1.0.0']),
    });
    expect(found.catalogs).toEqual(['etcd-v4.19', 'quay-v4.19', 'etcd-v4.20']);
  });

  test('puts a folder that is called after no package into the catalog in whose folder it is', async () => {
    const { found } = await layoutAt({
      'our catalogs/4.19 (GA)/etcd/catalog.yaml': etcd,
      'our catalogs/4.20 b/etcd/catalog.yaml': etcd,
      'our catalogs/4.19 (GA)/quay - new/index.yaml': catalogOf('quay', ['1.0.0']),
    });
    expect(found.catalogs).toEqual(['4.19 (GA)', '4.20 b']);
  });

  test('leaves archives out, and sources whose blobs a catalog in an image has', async () => {
    const { found, leftOut } = await layoutAt({
      'catalog/etcd/catalog.yaml': etcd,
      'catalog-src/etcd/catalog.yaml': etcd,
      'archive/v4.10/etcd/catalog.yaml': etcd,
      Dockerfile: 'FROM scratch\nCOPY catalog /configs\n',
      Makefile: 'all:\n\topm render catalog-src > catalog/etcd/catalog.yaml\n',
    });
    expect(found.patterns).toEqual(['catalog/{package}/**']);
    expect(leftOut).toEqual([
      { path: 'archive/v4.10/etcd/catalog.yaml', reason: 'put away' },
      {
        path: 'catalog-src/etcd/catalog.yaml',
        reason: 'no Dockerfile copies it, and catalog, which one does, has the same blobs',
      },
    ]);
  });

  test('says why no layout fits, instead of choosing one', async () => {
    const parts = {
      'fbc/etcd/package.yaml': 'schema: olm.package\nname: etcd\ndefaultChannel: stable\n',
      'fbc/etcd/channel.yaml': channel,
      'fbc/etcd/a.yaml': bundle,
    };
    const { found, contradictions } = await layoutAt({ ...parts, 'fbc/etcd/b.yaml': bundle });
    expect(found.patterns).toEqual([]);
    expect(contradictions).toContainEqual(expect.stringContaining('defines 1 bundle twice'));
    const correct = await layoutAt(parts);
    expect(correct.found.patterns).toEqual(['fbc/{package}/**']);
  });

  test('names the file whose package the catalog does not define', async () => {
    const { contradictions } = await layoutAt({
      'catalog/package.yaml': 'schema: olm.package\nname: ferry\ndefaultChannel: stable\n',
      'catalog/channels.yaml': channel,
      'catalog/bundles.yaml': '',
      'catalog.Dockerfile': 'FROM quay.io/operator-framework/opm\nADD catalog/release /configs\n',
    });
    expect(contradictions).toContain(
      'catalog/channels.yaml is of the package etcd, of which catalog catalog has no olm.package',
    );
  });
});
