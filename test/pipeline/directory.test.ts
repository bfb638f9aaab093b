/** Folders that somebody sent. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFolder } from '../../pipeline/directory.ts';
import { folder } from '../fakes/folder.ts';

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
