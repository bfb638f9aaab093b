import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from '../../fakes/folder.ts';
import { portolan } from '../../fakes/terminal.ts';

const IMAGE_SET = ['--image-set', 'set.yaml', '--to', 'mirror.example.com'];
const UPGRADE = ['--from', 'cluster.json', '--to', '4.20', 'v4.20'];
const CATALOG = ['catalog', '--to', 'mirror.example.com'];

test.each([
  ['--only needs --to', ['quay.io/acme/catalog:v1', '--only', 'etcd']],
  ['--image-platform needs --to', ['quay.io/acme/catalog:v1', '--image-platform', 'linux/amd64']],
  ['--format needs --to', ['quay.io/acme/catalog:v1', '--format', 'json']],
  ['--build needs --to', ['catalog', '--build', 'oci:built']],
  ['--only has no effect with --image-set', [...IMAGE_SET, '--only', 'etcd']],
  ['--name has no effect with --image-set', [...IMAGE_SET, '--name', 'acme']],
  ['--as has no effect with --image-set', [...IMAGE_SET, '--as', 'quay.io/acme/catalog']],
  ['--digest has no effect with --image-set', [...IMAGE_SET, '--digest', `sha256:${'a'.repeat(64)}`]],
  ['--architecture has no effect with --image-set', [...IMAGE_SET, '--architecture', 'arm64']],
  ['--image-set has no effect with --from', [...UPGRADE, '--image-set', 'set.yaml']],
  ['--only has no effect with --from', [...UPGRADE, '--only', 'etcd']],
  ['--online has no effect with --from', [...UPGRADE, '--online']],
  ['--style has no effect with --from', [...UPGRADE, '--style', 'oc']],
  ['--architecture has no effect on the plan of a catalog', [...CATALOG, '--architecture', 'arm64']],
  ['--update-graph has no effect on the plan of a catalog', [...CATALOG, '--update-graph', 'graph']],
  ['--release-key has no effect on the plan of a catalog', [...CATALOG, '--release-key', 'key.asc']],
  ['--skip-unsupported has no effect on the plan of a catalog', [...CATALOG, '--skip-unsupported']],
  ['--base-image needs --build', [...CATALOG, '--base-image', 'quay.io/acme/opm:v1']],
])('an option of another way to plan is refused: %s', async (message, words) => {
  const directory = folder();
  const { exit, err } = await portolan(directory, 'mirror', 'plan', ...words);
  expect(err).toContain(message);
  expect(exit).toBe(2);
  expect(existsSync(join(directory, 'mirror'))).toBe(false);
});

test('without --to, a plan of a directory is not looked for', async () => {
  const { exit, err } = await portolan(folder(), 'mirror', 'plan', '.');
  expect(err).toContain('--to is required');
  expect(exit).toBe(2);
});

test.each([
  ['--since needs --to-archive', ['mirror', 'copy', 'mapping.txt', '--since', 'last']],
  ['--archive-size needs --to-archive', ['mirror', 'copy', 'mapping.txt', '--archive-size', '4GiB']],
  ['--to-archive and --state cannot be used', 'mirror copy mapping.txt --to-archive a --state b'.split(' ')],
  ['--since needs --to-archive', 'mirror sync set.yaml --to mirror.example.com --since last'.split(' ')],
  ['--filter-by-archs needs --channel', 'mirror list releases --filter-by-archs arm64'.split(' ')],
  [
    '--channels needs a single architecture',
    'mirror list releases --version 4.20 --channels --filter-by-archs amd64,arm64'.split(' '),
  ],
  [
    '--base-image needs --tag',
    'index rm --operators foo --from-index catalog --base-image quay.io/acme/opm:v1'.split(' '),
  ],
  [
    '--message is the former name of --print-message',
    'ring hold v4.20 --reason x --message a/b --print-message a/c'.split(' '),
  ],
])('an option without effect is refused: %s', async (message, words) => {
  const { exit, err } = await portolan(folder(), ...words);
  expect(err).toContain(message);
  expect(exit).toBe(2);
});
