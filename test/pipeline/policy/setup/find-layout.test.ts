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

  test('names templates in a folder of that name, and none of tests', async () => {
    const { found, looked } = await layoutAt({
      'catalog/4.20/templates/base.in.yaml': bundleTemplate,
      'test/templates/base.in.yaml': bundleTemplate,
    });
    expect(found.patterns).toEqual([]);
    expect(looked.templates).toEqual(['catalog/4.20/templates/base.in.yaml']);
  });

  test('leaves a channel without its package out, with the reason', async () => {
    const { found, leftOut } = await layoutAt({ 'channel-4.8.yaml': channel, 'README.md': 'x' });
    expect(found.patterns).toEqual([]);
    expect(leftOut).toEqual([
      { path: 'channel-4.8.yaml', reason: 'no olm.package blob beside it defines etcd' },
    ]);
  });

  test('lists catalogs in folders that nobody publishes as left out, with the reason', async () => {
    const { found, leftOut } = await layoutAt({
      'fbc/etcd/catalog.yaml': etcd,
      'vendor/example.com/index/configs/etcd/catalog.yaml': etcd,
      'catalog-templates/etcd.yaml': etcd,
      'README.md': 'x',
    });
    expect(found.patterns).toEqual(['fbc/{package}/catalog.yaml']);
    expect(leftOut).toEqual([
      { path: 'catalog-templates/etcd.yaml', reason: 'a test, an example or a template' },
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
});
