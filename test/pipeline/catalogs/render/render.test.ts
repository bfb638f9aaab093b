import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createRegistryClient } from '../../../../pipeline/oci/registry/client.ts';
import { startRegistry } from '../../../../pipeline/oci/registry/embedded/server.ts';
import { openLayout } from '../../../../pipeline/oci/registry/layout/layout.ts';
import { layoutRegistry } from '../../../../pipeline/oci/registry/layout/registry.ts';
import { pushImage } from '../../../../pipeline/oci/registry/push.ts';
import { labelledImage } from '../../../fakes/labelled-image.ts';
import { workbench } from '../../../fakes/workbench.ts';

const { at, run, write, read } = workbench();

const sample = (name: string): string =>
  readFileSync(`test/catalogs/sample/catalogs/v4.20/${name}/catalog.yaml`, 'utf8');
const CONFIGS = { 'operators.operatorframework.io.index.configs.v1': '/configs' };

async function push(
  tag: string,
  labels: Record<string, string>,
  files: Record<string, string>,
): Promise<void> {
  const layout = layoutRegistry(await openLayout(at('images'), { create: true }));
  const image = await labelledImage(labels, files);
  await pushImage(layout, { kind: 'tag', registry: '', repository: '', tag }, { image });
}

describe('render', () => {
  test('an index image in a layout, and its directory, give the same bytes', async () => {
    write('c/ferry/catalog.yaml', sample('ferry-operator'));
    await push('v1', CONFIGS, { 'configs/ferry/catalog.yaml': sample('ferry-operator'), 'bin/opm': 'x' });
    for (const format of ['json', 'yaml']) {
      const { out } = await run('render', 'c', '-o', format);
      expect(out).not.toBe('');
      expect((await run('render', 'oci:images:v1', '-o', format)).out).toBe(out);
      expect((await run('opm', 'render', 'oci:images:v1', '-o', format)).out).toBe(out);
    }
  });

  test('an image in a registry, over plain HTTP when that is said', async () => {
    await push('v1', CONFIGS, { 'configs/catalog.yaml': sample('ferry-operator') });
    const server = await startRegistry({
      directory: at('images'),
      host: '127.0.0.1',
      port: 0,
      root: 'catalog',
    });
    try {
      const reference = `${server.host}/catalog:v1`;
      const { code, out } = await run('opm', 'render', reference, '--use-http');
      expect(code).toBe(0);
      expect(out).toBe((await run('render', reference, '--insecure', server.host)).out);
      const { code: missing, err } = await run('opm', 'render', `${server.host}/catalog:v2`, '--use-http');
      expect(missing).toBe(1);
      expect(err).toMatch(/image .* not found/);
    } finally {
      await server.close();
      createRegistryClient().close();
    }
  });

  test('an image that is neither an index nor a bundle is named with its labels', async () => {
    await push('odd', { a: '1' }, { 'a.txt': 'a' });
    expect((await run('render', 'oci:images:odd')).err).toContain(
      'neither an index image nor a bundle: its labels are a=1',
    );
    await push('old', { 'operators.operatorframework.io.index.database.v1': '/db' }, { db: 'x' });
    expect((await run('render', 'oci:images:old')).err).toContain('oci:images:old is not a SQLite database');
    await push('empty', CONFIGS, { 'a.txt': 'a' });
    expect((await run('render', 'oci:images:empty')).err).toContain('no directory /configs');
  });

  test('an index image where a template expects a bundle is called so, though it has the label of a bundle too', async () => {
    const bundle = { 'operators.operatorframework.io.bundle.package.v1': 'a' };
    write('t.yaml', 'schema: olm.template.basic\nentries:\n- {schema: olm.bundle, image: oci:images:both}\n');
    await push('both', { ...CONFIGS, ...bundle }, { 'configs/a.yaml': sample('ferry-operator') });
    const { code, err } = await run('opm', 'alpha', 'render-template', 'basic', 't.yaml');
    expect(code).toBe(1);
    expect(err).toContain('oci:images:both is an index image, not a bundle');
  });

  test('a format that there is not is refused', async () => {
    write('c/a.yaml', sample('ferry-operator'));
    const { code, err } = await run('render', 'c', '-o', 'xml');
    expect(code).toBe(2);
    expect(err).toContain('--output must be json or yaml, not');
  });

  test('a folder for each package', async () => {
    write('c/all.yaml', `${sample('ferry-operator')}\n---\n${sample('harbour-operator')}`);
    expect((await run('render', 'c', '--to', 'out', '-o', 'yaml')).code).toBe(0);
    const { out } = await run('render', 'c', '-o', 'yaml');
    const parts = ['ferry', 'harbour'].map((name) => read(`out/${name}-operator/catalog.yaml`));
    expect(parts.join('')).toBe(out);
  });
});

/** A blob with lifecycle metadata, in JSON. */
const lifecycle = (of: string, end: string): string =>
  JSON.stringify({
    schema: 'io.openshift.operators.lifecycles.v1alpha1',
    package: of,
    versions: [{ name: '1.0', phases: [{ name: 'Full support', startDate: '2026-01-01', endDate: end }] }],
  });

describe('lifecycle metadata from another source', () => {
  const ends = (text: string): string[] =>
    [...text.matchAll(/"endDate": ?"(.*?)"/g)].map(([, end = '']) => end);

  test('replaces that of the same packages; others are left out', async () => {
    write('c/ferry.yaml', sample('ferry-operator'));
    write('c/own.json', lifecycle('ferry-operator', '2026-06-30'));
    write('new/a.json', lifecycle('ferry-operator', '2027-06-30'));
    write('new/b.json', lifecycle('unknown', '2028-06-30'));
    write('c.yaml', 'references: [{name: ferry-operator, image: c}]\n');
    for (const words of [
      ['render', 'c'],
      ['compose', 'c.yaml'],
    ]) {
      expect(ends((await run(...words)).out)).toEqual(['2026-06-30']);
      const { code, out, err } = await run(...words, '--lifecycles', 'new');
      expect({ code, err }).toEqual({
        code: 0,
        err: 'lifecycle metadata for 1 package; the catalog does not have 1 other package\n',
      });
      expect(ends(out)).toEqual(['2027-06-30']);
      // Nothing else changes.
      expect(out.replace('2027-06-30', '2026-06-30')).toBe((await run(...words)).out);
    }
    await run('render', 'c', '--lifecycles', 'new/a.json', '--to', 'out');
    expect(ends(read('out/ferry-operator/catalog.json'))).toEqual(['2027-06-30']);
  });

  test.each([
    [`${lifecycle('ferry-operator', '2027-06-30')}\n`.repeat(2), 'lifecycle/duplicate'],
    [lifecycle('ferry-operator', '2025-12-31'), 'lifecycle/phases'],
    [lifecycle('ferry-operator', 'soon'), 'lifecycle/schema'],
  ])('a source with errors is refused', async (text, rule) => {
    write('c/ferry.yaml', sample('ferry-operator'));
    write('new.json', text);
    const { code, out, err } = await run('render', 'c', '--lifecycles', 'new.json');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(`(${rule})`);
  });
});

describe('compose', () => {
  test('takes one package of each image, into the places of an index', async () => {
    await push('ferry', CONFIGS, { 'configs/a.yaml': sample('ferry-operator') });
    write('both/ferry.yaml', sample('ferry-operator').replaceAll('ferry', 'harbour'));
    write('both/light.yaml', sample('lighthouse-operator'));
    const reference = (name: string, image: string): string =>
      `- {name: ${name}-operator, image: "${image}"}\n`;
    write(
      'c.yaml',
      `name: x\nreferences:\n${reference('ferry', 'oci:images:ferry')}${reference('lighthouse', 'both')}`,
    );
    const { out, code } = await run('compose', 'c.yaml', '-o', 'yaml');
    expect(code).toBe(0);
    write('wanted/a.yaml', `${sample('ferry-operator')}\n---\n${sample('lighthouse-operator')}`);
    expect(out).toBe((await run('render', 'wanted', '-o', 'yaml')).out);
    write('one.yaml', `references:\n${reference('ferry', 'oci:images:ferry')}`);
    write('light/a.yaml', sample('lighthouse-operator'));
    expect((await run('compose', 'one.yaml', '--from-index', 'light', '-o', 'yaml')).out).toBe(out);
  });

  test.each([
    ['references: []\n', 'lists no references'],
    ['references:\n- name: a\n', 'c.yaml:2:3: error: a reference has a name and an image'],
    ['references:\n- {name: a, image: light}\n', 'light has no package "a"'],
    ['references:\n- {name: a, image: b}\n- {name: a, image: c}\n', 'duplicate package "a"'],
  ])('%j is refused', async (text, message) => {
    write('c.yaml', text);
    write('light/a.yaml', sample('lighthouse-operator'));
    const { code, err } = await run('compose', 'c.yaml');
    expect(code).toBe(1);
    expect(err).toContain(message);
  });
});
