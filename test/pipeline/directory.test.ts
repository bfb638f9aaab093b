/** Folders that somebody sent. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBundleDirectory } from '../../pipeline/catalogs/bundle/open-directory.ts';
import { directoryRepository } from '../../pipeline/catalogs/release/release-repository.ts';
import { writeCharts } from '../../pipeline/cli/mirror/image-set.ts';
import { directorySource, readFolder } from '../../pipeline/directory.ts';
import { openArchiveWriter } from '../../pipeline/mirror/archive/writer.ts';
import { openMemory } from '../../pipeline/mirror/copy-memory.ts';
import { stagingLayout } from '../../pipeline/oci/registry/archive/oci.ts';
import { openLayout } from '../../pipeline/oci/registry/layout/layout.ts';
import { directoryRecords } from '../../pipeline/publish/records/directory.ts';
import { folder } from '../fakes/folder.ts';
import { catalogOf } from '../fakes/gate.ts';
import { portolan } from '../fakes/terminal.ts';

const LIMITS = { isWanted: (path: string) => path.endsWith('.yaml'), mostFiles: 3, mostBytes: 1000 };

async function read(path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { path: name, bytes } of readFolder(path, LIMITS)) found.push(`${name}: ${bytes.length}`);
  return found;
}

const HOSTILE: Readonly<Record<string, readonly [(path: string) => void, string]>> = {
  'a pipe that nobody writes to': [
    (path) => void execFileSync('mkfifo', [path]),
    'a.yaml is neither a file nor a directory',
  ],
  'a link to a device without an end': [
    (path) => symlinkSync('/dev/zero', path),
    'a.yaml is a link to something that is not a file',
  ],
  'a link to nothing': [(path) => symlinkSync('nothing', path), 'a.yaml is a link to nothing'],
  'a link to its folder': [(path) => symlinkSync('.', path), 'a.yaml is a link to a directory'],
  'a file beyond the limit': [
    (path) => {
      writeFileSync(path, '');
      truncateSync(path, 2 ** 40);
    },
    'has more than 1000 bytes of Kubernetes objects',
  ],
  'too many files': [
    (path) => {
      for (let i = 0; i < 4; i++) writeFileSync(path.replace('a.yaml', `${i}.yaml`), '');
    },
    'has more than 3 files of Kubernetes objects',
  ],
};

test.each(Object.entries(HOSTILE))(
  '66: %s in a folder that somebody sent is an error',
  async (_, [make, why]) => {
    const root = folder();
    mkdirSync(join(root, 'namespaces'));
    make(join(root, 'namespaces/a.yaml'));
    await expect(read(root)).rejects.toThrow(why);
  },
);

test('files are read in order, through links, and nothing that is not wanted is opened', async () => {
  const root = folder({ 'b/c.yaml': 'three', 'b.yaml': 'a', other: '' });
  symlinkSync(join(root, 'b.yaml'), join(root, 'a.yaml'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
  expect(await read(root)).toEqual(['a.yaml: 1', 'b.yaml: 1', 'b/c.yaml: 5']);
});

/** Links that a hostile clone may have, each to what it must not make a command read. */
const LINKS: Readonly<Record<string, (secret: string) => string>> = {
  'a file outside': (secret) => secret,
  'a device without an end': () => '/dev/zero',
  'the configuration of the clone': () => '../.git/config',
};

function hostileClone(target: (secret: string) => string): { readonly root: string; readonly link: string } {
  const secret = join(folder({ token: 'secret' }), 'token');
  const root = folder({ '.git/config': 'token', 'foo/own.yaml': 'a: 1', elsewhere: 'a: 1' });
  symlinkSync('../elsewhere', join(root, 'foo/twin.yaml'));
  symlinkSync(target(secret), join(root, 'foo/out.yaml'));
  return { root, link: 'foo/out.yaml' };
}

test.each(Object.entries(LINKS))('70: a link to %s is not read from a clone', async (_, target) => {
  const { root, link } = hostileClone(target);
  for (const [directory, prefix] of [[root, ''] as const, [join(root, 'foo'), 'foo/'] as const]) {
    const files = await directorySource(directory).files();
    const unread = files.filter(({ unreadable }) => unreadable !== undefined);
    expect(unread.map(({ path, unreadable }) => `${prefix}${path}: ${unreadable}`)).toEqual([
      `${link}: a link out of the clone`,
    ]);
  }
  const repository = directoryRepository(root);
  await expect(repository.text(link)).rejects.toThrow(`${link} is a symbolic link`);
  expect(await repository.text('foo/own.yaml')).toBe('a: 1');
});

test('70: a folder of a clone that is a link is not released, and a Dockerfile that is one is not read', async () => {
  const { root } = hostileClone(() => '/dev/zero');
  symlinkSync('../foo', join(root, 'foo/inside'));
  const repository = directoryRepository(root);
  await expect(repository.folder('foo/inside')).rejects.toThrow('foo/inside is a symbolic link');
  await expect(repository.text('foo/inside/own.yaml')).rejects.toThrow('symbolic link');
  expect(await repository.folder('foo')).toBeDefined();
  symlinkSync('/dev/zero', join(root, 'foo/Dockerfile'));
  expect(() => openBundleDirectory(join(root, 'foo'))).toThrow('Dockerfile is a link out of the clone');
});

/** Commands for a catalog, and for what lies in bundles and folders of documents. */
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  'opm render': ['opm', 'render', 'v4.20'],
  'opm validate': ['opm', 'validate', 'v4.20'],
  'opm generate dockerfile': ['opm', 'generate', 'dockerfile', 'v4.20/etcd'],
  render: ['render', 'v4.20'],
  validate: ['validate', 'v4.20'],
  'validate below the link': ['validate', 'v4.20/vault'],
  audit: ['audit', 'v4.20'],
  convert: ['convert', 'v4.20', '--to', 'converted'],
  graph: ['graph', 'v4.20'],
  prune: ['prune', 'v4.20', '--keep', 'vault', '--accept-stranding'],
  deprecate: ['deprecate', 'v4.20', '--package', 'etcd', '-m', 'x'],
  'promote from': ['promote', 'etcd', '--from', 'v4.20', '--to', 'v4.19'],
  'promote to': ['promote', 'etcd', '--from', 'v4.19', '--to', 'v4.20', '--accept-stranding'],
  ledger: ['ledger', 'ledger.jsonl', 'v4.20'],
  'manifests of bundles': ['audit', 'v4.19', '--bundles', 'v4.20'],
  'bundle validate': ['bundle', 'validate', 'v4.20/etcd'],
};

test.each(Object.entries(COMMANDS))(
  '70: a folder that is a link out of the clone is neither read nor written by %s',
  async (_, words) => {
    const victim = folder({
      'etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0']),
      'vault/catalog.yaml': catalogOf('vault', ['1.0.0']),
    });
    const clone = folder({
      '.git/config': '',
      'v4.19/etcd/catalog.yaml': catalogOf('etcd', ['1.0.0', '1.1.0', '1.2.0']),
    });
    symlinkSync(victim, join(clone, 'v4.20'));
    const before = readdirSync(victim, { recursive: true });
    const { exit, out, err } = await portolan(clone, ...words);
    expect(`${out}${err}`).toContain(
      'v4.20 leads out of the clone through a symbolic link: nothing is read or written',
    );
    expect(out).not.toContain('etcd.v1.1.0');
    expect(exit).not.toBe(0);
    expect(readdirSync(victim, { recursive: true })).toEqual(before);
    expect((await portolan(clone, 'validate', join(victim, 'vault'))).exit).toBe(0);
  },
);

test.each([
  ['opm', 'alpha', 'render-template', 'basic', 't.yaml'],
  ['opm', 'alpha', 'render-template', 'basic', 'above/t.yaml'],
  ['compose', 't.yaml', '--to', 'out'],
  ['convert', 't.yaml', '--to', 'out'],
  ['mirror', 'plan', '--image-set', 't.yaml', '--to', 'mirror.example.com', '-o', 'out'],
])(
  '70: a file that is a link out of the clone, or below one, is not read by %s %s %s %s %s',
  async (...words) => {
    const outside = folder({ 't.yaml': catalogOf('etcd', ['1.0.0']) });
    const clone = folder({ '.git/config': '' });
    symlinkSync(join(outside, 't.yaml'), join(clone, 't.yaml'));
    symlinkSync(outside, join(clone, 'above'));
    const { exit, out, err } = await portolan(clone, ...words);
    expect(err).toMatch(/(?:t\.yaml|above) leads out of the clone through a symbolic link/);
    expect(out).not.toContain('etcd');
    expect(exit).not.toBe(0);
  },
);

/** What writes images, archives and records, by the path that somebody names. */
const WRITERS: Readonly<Record<string, (folder: string) => unknown>> = {
  'an image layout': (path) => openLayout(path, { create: true }),
  'an OCI archive': (path) => stagingLayout(join(path, 'image.tar')),
  'an archive of a mirror': (path) => openArchiveWriter({ directory: path, part: 1024, since: undefined }),
  'the memory of a copy': (path) => openMemory(join(path, 'mapping.txt.state')),
  records: (path) => directoryRecords(path).put('a', Buffer.from('b')),
  charts: (path) => writeCharts(path, { fetched: [{ file: 'a.tgz', path: 'package.json' }] }),
};

test.each(Object.entries(WRITERS))(
  '70: %s is not written behind a link out of the clone',
  async (_, write) => {
    const victim = folder();
    const clone = folder({ '.git/config': '' });
    symlinkSync(victim, join(clone, 'out'));
    await expect((async () => write(join(clone, 'out')))()).rejects.toThrow('out leads out of the clone');
    expect(readdirSync(victim)).toEqual([]);
  },
);

test('70: outside of a clone, links lead where they lead, as those of opm', async () => {
  const { root } = hostileClone((secret) => secret);
  const plain = folder();
  symlinkSync(join(root, 'elsewhere'), join(plain, 'a.yaml'));
  expect((await directorySource(plain).files()).map(({ unreadable }) => unreadable)).toEqual([undefined]);
});
