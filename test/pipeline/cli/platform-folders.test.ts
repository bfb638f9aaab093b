import { expect, test } from 'vitest';
import { platformFolders } from '../../../pipeline/cli/platform-folders.ts';
import { folder } from '../../fakes/folder.ts';

test('folders of versions are in the order of the platform, not of their names', () => {
  const files = { 'v4.20/etcd/catalog.yaml': '', 'v4.9/etcd/catalog.yaml': '' };
  expect(platformFolders(folder(files))).toEqual(['v4.9', 'v4.20']);
  const hidden = { '.git/HEAD': '', '.github/portolan.yaml': '' };
  expect(platformFolders(folder({ ...files, ...hidden }))).toEqual(['v4.9', 'v4.20']);
  expect(platformFolders(folder({ ...files, 'docs/README.md': '' }))).toEqual([]);
});
