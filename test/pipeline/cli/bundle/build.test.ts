import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from '../../../fakes/folder.ts';
import { registry } from '../../../fakes/registry.ts';
import { portolan } from '../../../fakes/terminal.ts';

function sample(): string {
  const directory = folder();
  cpSync('test/catalogs/bundle', directory, { recursive: true });
  return directory;
}

test('metadata as opm writes it; what is there is kept', async () => {
  const directory = sample();
  rmSync(join(directory, 'metadata'), { recursive: true });
  const words = ['bundle', 'generate', 'manifests', '--package', 'etcd', '--channels', 'stable,alpha'];
  expect(await portolan(directory, ...words, '--default', 'stable')).toMatchObject({ exit: 0 });
  expect(readFileSync(join(directory, 'bundle.Dockerfile'), 'utf8')).toBe(
    [
      'FROM scratch',
      '',
      'LABEL operators.operatorframework.io.bundle.mediatype.v1=registry+v1',
      'LABEL operators.operatorframework.io.bundle.manifests.v1=manifests/',
      'LABEL operators.operatorframework.io.bundle.metadata.v1=metadata/',
      'LABEL operators.operatorframework.io.bundle.package.v1=etcd',
      'LABEL operators.operatorframework.io.bundle.channels.v1=stable,alpha',
      'LABEL operators.operatorframework.io.bundle.channel.default.v1=stable',
      '',
      'COPY manifests /manifests/',
      'COPY metadata /metadata/',
      '',
    ].join('\n'),
  );
  expect(await portolan(directory, 'bundle', 'validate', '.')).toMatchObject({ exit: 0, out: '' });
  const again = await portolan(directory, ...words);
  expect(again.exit).toBe(2);
  expect(again.err).toContain('already exists with different content');
  expect(await portolan(directory, ...words, '--overwrite')).toMatchObject({ exit: 0 });
});

test.each([
  ['--package', 'etcd\nRUN x', '--channels', 'stable'],
  ['--package', 'etcd', '--channels', 'stable\nRUN x,alpha'],
  ['--package', 'etcd', '--channels', 'stable', '--default', 'a\rRUN x'],
])('90: a line break becomes no instruction of a Dockerfile: %j', async (...options) => {
  const directory = sample();
  const { exit, err } = await portolan(
    directory,
    'bundle',
    'generate',
    'manifests',
    ...options,
    '--overwrite',
  );
  expect([exit, err]).toEqual([2, expect.stringContaining('has a control character')]);
  expect(existsSync(join(directory, 'bundle.Dockerfile'))).toBe(false);
});

test('90: a value of a label is one value, whatever it holds', async () => {
  const directory = sample();
  const words = ['bundle', 'generate', 'manifests', '--channels', 'stable', '--overwrite'];
  const name = String.raw`a=b c="d" $HOME\x`;
  expect(await portolan(directory, ...words, '--package', name)).toMatchObject({ exit: 0 });
  expect(readFileSync(join(directory, 'bundle.Dockerfile'), 'utf8')).toContain(
    `${String.raw`.package.v1="a=b c=\"d\" \$HOME\\x"`}\n`,
  );
  renameSync(join(directory, 'manifests'), join(directory, 'my manifests'));
  const spaced = await portolan(
    directory,
    'bundle',
    'generate',
    'my manifests',
    ...words.slice(3),
    '-p',
    'a',
  );
  expect(spaced).toMatchObject({
    exit: 2,
    err: expect.stringContaining('the path "my manifests" cannot be'),
  });
});

test('an image is the same wherever it is made, and is read back as its directory', async () => {
  const directory = sample();
  const far = await registry();
  const built = await portolan(directory, 'bundle', 'build', '.', 'oci:images:v1');
  expect(built.exit).toBe(0);
  const reference = `${far.host}/org/etcd-bundle:v1`;
  const pushed = await portolan(directory, 'bundle', 'push', '.', reference, '--insecure', far.host);
  expect(pushed.out).toBe(built.out);
  expect(pushed.out).toMatch(/^sha256:[0-9a-f]{64}\n$/);
  const rendered = await portolan(directory, 'render', reference, '--insecure', far.host);
  const bundle = JSON.parse(rendered.out);
  expect(bundle).toMatchObject({
    schema: 'olm.bundle',
    name: 'etcd.v1.0.0',
    package: 'etcd',
    image: reference,
  });
  const validated = ['bundle', 'validate', reference, '--insecure', far.host];
  expect(await portolan(directory, ...validated)).toMatchObject({ exit: 0, out: '' });
});

test('an image has the media types of Docker where they are asked for, and the same files', async () => {
  const directory = sample();
  const far = await registry();
  const reference = `${far.host}/org/etcd-bundle:v1`;
  const access = ['--insecure', far.host];
  const pushed = await portolan(
    directory,
    'bundle',
    'push',
    '.',
    reference,
    '--media-type',
    'docker',
    ...access,
  );
  const answer = await fetch(`http://${far.host}/v2/org/etcd-bundle/manifests/v1`, {
    headers: { accept: 'application/vnd.docker.distribution.manifest.v2+json' },
  });
  const manifest = await answer.text();
  expect(JSON.parse(manifest)).toMatchObject({
    mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
    config: { mediaType: 'application/vnd.docker.container.image.v1+json' },
    layers: [{ mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip' }],
  });
  expect(manifest).not.toContain('oci');
  const built = await portolan(directory, 'bundle', 'build', '.', 'oci:images:v1', '--media-type', 'docker');
  expect(built).toMatchObject({ exit: 0, out: pushed.out });
  const oci = await portolan(directory, 'bundle', 'build', '.', 'oci:others:v1');
  expect(oci.out).not.toBe(pushed.out);
  expect(await portolan(directory, 'bundle', 'validate', reference, ...access)).toMatchObject({
    exit: 0,
    out: '',
  });
});

test('a bundle with errors is not made, unless that is forced', async () => {
  const directory = sample();
  writeFileSync(join(directory, 'manifests/.hidden'), 'x');
  const refused = await portolan(directory, 'bundle', 'build', '.', 'oci:images:v1');
  expect(refused.exit).toBe(1);
  expect(refused.err).toContain('(manifest/hidden-file)');
  expect(refused.err).toContain('FAIL: 2 errors; no image was built\n');
  expect(existsSync(join(directory, 'images'))).toBe(false);
  expect(await portolan(directory, 'bundle', 'build', '.', 'oci:images:v1', '--force')).toMatchObject({
    exit: 0,
  });
  const there = await portolan(directory, 'bundle', 'build', '.', 'quay.io/example/etcd:v1');
  expect(there.err).toContain('quay.io/example/etcd:v1 is in a registry: use portolan bundle push');
});

test('81: a file that a link leads to is not packed from outside of the bundle', async () => {
  const directory = sample();
  const secret = join(folder({ config: 'kind: Config\napiVersion: v1\nmetadata: {name: a}\n' }), 'config');
  symlinkSync(secret, join(directory, 'manifests/config.yaml'));
  for (const more of [[], ['--force']]) {
    const built = await portolan(directory, 'bundle', 'build', '.', 'oci:images:v1', ...more);
    expect(built.exit).not.toBe(0);
    expect(built.err).toContain('manifests/config.yaml');
    expect(built.err).toContain('a link out of the directory');
    expect(existsSync(join(directory, 'images/index.json'))).toBe(false);
  }
  rmSync(join(directory, 'manifests/config.yaml'));
  const [manifest = ''] = readdirSync(join(directory, 'manifests'));
  symlinkSync(manifest, join(directory, 'metadata/same.yaml'));
  symlinkSync(`../manifests/${manifest}`, join(directory, 'metadata/other.yaml'));
  const built = await portolan(directory, 'bundle', 'build', '.', 'oci:images:v1', '--force');
  expect(built.err).toContain('metadata/same.yaml: a link to nothing');
  rmSync(join(directory, 'metadata/same.yaml'));
  expect(await portolan(directory, 'bundle', 'build', '.', 'oci:images:v1', '--force')).toMatchObject({
    exit: 0,
  });
});

test('a bundle with only warnings is made, and nothing is said of them', async () => {
  const directory = sample();
  for (const file of ['a.yaml', 'b.yaml'])
    writeFileSync(
      join(directory, 'manifests', file),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
    );
  const checked = await portolan(directory, 'bundle', 'validate', '.');
  expect(checked).toMatchObject({ exit: 0, out: expect.stringContaining('warning: ') });
  const built = await portolan(directory, 'bundle', 'build', '.', 'oci:images:v1');
  expect(built).toMatchObject({ exit: 0, err: expect.not.stringContaining('warning: ') });
});
