/** Commands that read images find them where mirror sets and registries.conf say they are. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parseReference } from '../../../catalog/reference.ts';
import { sourceOf } from '../../../catalog/source.ts';
import { BUILD_DEFAULTS, buildCatalogImage } from '../../../pipeline/oci/image/build.ts';
import { pushImage } from '../../../pipeline/oci/registry/push.ts';
import { folder } from '../../fakes/folder.ts';
import { testClient } from '../../fakes/host.ts';
import { registry } from '../../fakes/registry.ts';
import { portolan } from '../../fakes/terminal.ts';

const CATALOG = [
  '---\nschema: olm.package\nname: foo\ndefaultChannel: stable\n',
  '---\nschema: olm.channel\nname: stable\npackage: foo\nentries: [{name: foo.v1.0.0}]\n',
  '---\nschema: olm.bundle\nname: foo.v1.0.0\npackage: foo\nimage: registry.invalid/org/bundle:v1\n',
  'properties: [{type: olm.package, value: {packageName: foo, version: 1.0.0}}]\n',
].join('');

/** A mirror of `registry.invalid/org`, which nobody can reach. */
async function scene() {
  const directory = folder();
  const mirror = await registry();
  const client = testClient([mirror.host]);
  const source = sourceOf({ 'catalog.yaml': CATALOG });
  const { built } = await buildCatalogImage(source, undefined, { ...BUILD_DEFAULTS, scratch: folder() });
  if (!built) throw new Error('nothing was built');
  const { manifestList: root, manifests, blobs } = built.image;
  await pushImage(client, parseReference(`${mirror.host}/m/index:v1`), { image: { root, manifests, blobs } });
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  };
  const move = (names: Readonly<Record<string, string>>): void => {
    for (const [from, to] of Object.entries(names)) {
      write(to, readFileSync(join(directory, from), 'utf8'));
      rmSync(join(directory, from));
    }
  };
  const set = (kind: string, list: string): string =>
    `apiVersion: config.openshift.io/v1\nkind: ${kind}\nmetadata: {name: x}\nspec:\n  ${list}:\n  - source: registry.invalid/org\n    mirrors: ['${mirror.host}/m']\n    mirrorSourcePolicy: NeverContactSource\n`;
  write('itms.yaml', set('ImageTagMirrorSet', 'imageTagMirrors'));
  write('idms.yaml', set('ImageDigestMirrorSet', 'imageDigestMirrors'));
  write(
    'registries.conf',
    `[[registry]]\nlocation = "registry.invalid/org"\nblocked = true\n[[registry.mirror]]\nlocation = "${mirror.host}/m"\n`,
  );
  const run = (...words: string[]) =>
    portolan(directory, ...words, ...(words[0] === 'opm' ? [] : ['--insecure', mirror.host]));
  return { root, write, move, run };
}

const IMAGE = 'registry.invalid/org/index:v1';

test('an index image is listed and rendered from the mirror', async () => {
  const { root, run } = await scene();
  const words = ['list', 'packages', IMAGE];
  expect((await run(...words, '--idms', 'itms.yaml')).out).toContain('foo');
  expect((await run(...words, '--registries-conf', 'registries.conf')).out).toContain('foo');
  expect((await run('render', IMAGE, '--idms', 'itms.yaml')).out).toContain('registry.invalid/org/bundle:v1');
  const pinned = `registry.invalid/org/index@${root.digest}`;
  expect((await run('list', 'packages', pinned, '--idms', 'idms.yaml')).out).toContain('foo');
  // Mirrors of digests are not asked for tags.
  const tag = await run(...words, '--idms', 'idms.yaml');
  expect(tag.exit).not.toBe(0);
  expect(await run(...words, '--idms', 'idms.yaml', '--idms', 'itms.yaml')).toMatchObject({ exit: 0 });
});

test.each(['kustomization.yaml', 'kustomization.yml', 'Kustomization'])(
  '%s: what it applies of other folders counts, and what it does not apply does not',
  async (name) => {
    const { write, run, move } = await scene();
    move({ 'itms.yaml': 'docs/more/deep/itms.yaml', 'idms.yaml': 'docs/idms.yaml' });
    write('docs/not-applied.yaml', 'a: [');
    write('docs/more/kustomization.yaml', 'resources: [deep/itms.yaml, .., ../../docs]\n');
    const url = 'https://github.com/org/repo//deploy?ref=v1';
    write(`docs/${name}`, `resources: [idms.yaml, ./more, '${url}', 'github.com/org/repo?ref=v1']\n`);
    const { exit, out, err } = await run('list', 'packages', IMAGE, '--idms', 'docs');
    expect(exit, err).toBe(0);
    expect(out).toContain('foo');
  },
);

test('a mirror is copied from a mirror', async () => {
  const { write, run } = await scene();
  const other = await registry();
  write('mapping.txt', `${IMAGE}=${other.host}/copy/index:v1\n`);
  const ran = await run('mirror', 'copy', 'mapping.txt', '--idms', 'itms.yaml', '--insecure', other.host);
  expect(ran).toMatchObject({ exit: 0, out: expect.stringContaining('1 copied') });
});

test.each([
  ['--idms', 'empty.yaml', 'apiVersion: v1\nkind: ConfigMap\n', 'has no ImageDigestMirrorSet'],
  ['--idms', 'broken.yaml', 'a: [', 'broken.yaml:1: '],
  ['--registries-conf', 'one.conf', '[registries.search]\n', 'one.conf:1: [registries.search] is version 1'],
  ['--registries-conf', 'none.conf', '# nothing\n', 'has no [[registry]]'],
])('%s %s is refused: what it was to say is not known', async (option, name, text, message) => {
  const { write, run } = await scene();
  write(name, text);
  const ran = await run('list', 'packages', IMAGE, option, name);
  expect(ran).toMatchObject({ exit: 2, err: expect.stringContaining(message) });
});

test("opm's commands take the same flags, also before the command", async () => {
  const { run } = await scene();
  const opm = (...words: string[]) => run('opm', ...words);
  // --insecure is a flag of Portolan's own commands.
  const { out } = await opm('render', IMAGE, '--idms', 'itms.yaml', '--use-http');
  expect(out).toContain('registry.invalid/org/bundle:v1');
  expect((await opm('--idms', 'itms.yaml', '--use-http', 'render', IMAGE)).out).toContain('olm.bundle');
  const conf = ['--registries-conf=registries.conf', '--use-http'];
  expect((await opm('render', IMAGE, ...conf)).out).toContain('olm.bundle');
  expect(await opm('render', IMAGE, '--use-http')).toMatchObject({ exit: 1 });
  expect((await opm('render', IMAGE, '--idms', 'none.yaml')).err).toContain('none.yaml');
});
