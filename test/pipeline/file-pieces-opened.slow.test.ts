/** Pipes and devices in directories that somebody sent: nothing may wait for them. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readRegular } from '../../pipeline/file-pieces.ts';
import { folder } from '../fakes/folder.ts';
import { makeRepository } from '../fakes/repository.ts';
import { runCommand } from '../fakes/terminal.ts';

/** Puts a pipe at a path, to which nobody writes before the end of the test: what waits for it ends then. */
function pipe(path: string): void {
  rmSync(path, { force: true });
  execFileSync('mkfifo', [path]);
  onTestFinished(() => closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK)));
}

const HEX = '00'.repeat(32);
const INDEX = JSON.stringify({
  schemaVersion: 2,
  manifests: [
    {
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      digest: `sha256:${HEX}`,
      size: 2,
      annotations: { 'org.opencontainers.image.ref.name': 'v1' },
    },
  ],
});

function layout(): string {
  return folder({
    'l/oci-layout': '{"imageLayoutVersion":"1.0.0"}',
    'l/index.json': INDEX,
    [`l/blobs/sha256/${HEX}`]: '{}',
  });
}

test.each([['l/index.json'], ['l/oci-layout'], [`l/blobs/sha256/${HEX}`]])(
  '76: %s of a layout that is a pipe is an error',
  async (path) => {
    const directory = layout();
    pipe(join(directory, path));
    const { exit, err } = await runCommand(['render', 'oci:l:v1'], { directory });
    expect(exit).toBe(2);
    expect(err).toMatch(/pipe|is not an OCI image layout|not found/);
  },
);

test.each([
  ['render', 'oci-archive:p:v1'],
  ['render', 'docker-archive:p'],
  ['bundle', 'validate', 'c', '--policy', 'p'],
  ['mirror', 'copy', 'p', '--to-archive', 'x'],
])('76: %s %s does not wait for a pipe', async (...words) => {
  const directory = folder({ 'c/a.yaml': 'schema: olm.package\nname: a\ndefaultChannel: b\n' });
  pipe(join(directory, 'p'));
  const { exit, err } = await runCommand(words, { directory });
  expect(exit).toBe(2);
  expect(err).toMatch(/pipe|cannot read|not a directory/);
});

const FILES = { 'catalogs/v4.20/a/a.yaml': 'schema: olm.package\nname: a\ndefaultChannel: b\n' };

function clone(): string {
  const repository = makeRepository();
  onTestFinished(() => repository.remove());
  const commit = repository.commit(FILES);
  repository.git('update-ref', 'refs/heads/main', commit);
  repository.git('reset', '--hard', 'main');
  const directory = folder();
  cpSync(repository.directory, directory, { recursive: true });
  return directory;
}

const PLACES = [
  'HEAD',
  'config',
  'index',
  'packed-refs',
  'refs/heads/main',
  'objects/info/alternates',
  'shallow',
];

test('76: a file below .git that is a pipe is an error before git starts', async () => {
  const directory = clone();
  const words = ['diff', 'HEAD', 'HEAD', '--repo', '.'];
  expect((await runCommand(words, { directory })).err).toBe('compared 0 packages\n');
  for (const path of PLACES) {
    const copy = folder();
    cpSync(directory, copy, { recursive: true });
    pipe(join(copy, '.git', path));
    const { exit, err } = await runCommand(words, { directory: copy });
    expect(exit).toBe(2);
    expect(err).toContain(path);
    expect(err).toContain('pipe');
  }
});

test('76: a loose object that is a pipe, and a linked work tree of a folder with one', async () => {
  const directory = clone();
  const objects = execFileSync('git', ['-C', directory, 'rev-parse', 'HEAD^{tree}'], {
    encoding: 'utf8',
  }).trim();
  const path = join(directory, '.git/objects', objects.slice(0, 2), objects.slice(2));
  expect(existsSync(path)).toBe(true);
  pipe(path);
  const linked = folder({ '.git': `gitdir: ${join(directory, '.git')}\n` });
  const byLink = folder();
  symlinkSync(join(directory, '.git'), join(byLink, '.git'));
  const borrows = clone();
  rmSync(join(borrows, '.git/objects'), { recursive: true });
  symlinkSync(join(directory, '.git/objects'), join(borrows, '.git/objects'));
  const alternates = clone();
  writeFileSync(join(alternates, '.git/objects/info/alternates'), `${join(directory, '.git/objects')}\n`);
  // What was refused once is refused again.
  for (const place of [directory, linked, linked, byLink, borrows, alternates]) {
    const { exit, err } = await runCommand(['diff', 'HEAD', 'HEAD', '--repo', '.'], {
      directory: place,
    });
    expect(exit).toBe(2);
    expect(err).toContain('pipe');
  }
});

test('76: devices are not read, files are, and what a shell passes is', () => {
  expect(() => readRegular('/dev/null')).toThrow(/not a file, but a pipe, socket or device/);
  expect(readRegular('package.json').length).toBeGreaterThan(0);
  const file = openSync('package.json', 'r');
  onTestFinished(() => closeSync(file));
  expect(readRegular(`/dev/fd/${file}`)).toEqual(readRegular('package.json'));
});
