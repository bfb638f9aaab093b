/** A repository elsewhere: what comes of it, and what comes once. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leftBranchAt } from '../../../pipeline/git/merge.ts';
import { authorizationHeader } from '../../../pipeline/git/process.ts';
import { openRemote } from '../../../pipeline/git/remote.ts';
import type { Repository } from '../../../pipeline/git/repository.ts';
import { entryAt, listFiles } from '../../../pipeline/git/tree.ts';
import { TOKEN } from '../../fakes/github/forge.ts';
import { type Hub, openHub } from '../../fakes/hub.ts';

/** Names that no compression makes short. */
const MANY = Object.fromEntries(
  Array.from({ length: 2000 }, (_, i) => [`folder/${(i * 2654435761).toString(36)}-${i}`, `${i}`]),
);

let hub: Hub;
let repository: Repository;
beforeEach(async () => {
  hub = await openHub(MANY);
  const remote = { url: `${hub.forge.url}/example/catalogs.git`, header: authorizationHeader(TOKEN) };
  repository = openRemote(remote, { searchPath: process.env['PATH'] });
});
afterEach(async () => {
  await repository.close();
  await hub.close();
});

test('trees that two commits share come once', async () => {
  const first = hub.base();
  const second = hub.moveBase({ 'another/file': 'one' });
  await repository.bring([first]);
  const { bytes, requests } = hub.forge.git;
  expect(bytes).toBeGreaterThan(40_000);
  await repository.bring([first]);
  expect(hub.forge.git.requests).toBe(requests);
  await repository.bring([second]);
  expect(hub.forge.git.bytes - bytes).toBeLessThan(4000);
  // Both are whole.
  expect(await listFiles(repository.objects, first)).toHaveLength(2000);
  expect(await listFiles(repository.objects, second)).toHaveLength(2001);
});

test('files of a commit come when they are asked for, though another commit with them is here', async () => {
  const second = hub.moveBase({ 'another/file': 'one' });
  await repository.bring([hub.base()]);
  await repository.bring([second]);
  const id = hub.repository.git('rev-parse', `${second}:another/file`);
  await repository.objects.prefetch([id]);
  expect((await repository.objects.read(id, 100)).bytes.toString()).toBe('one');
});

test('a commit that is not there is named', async () => {
  const none = 'a'.repeat(40);
  await expect(repository.bring([hub.base(), none])).rejects.toMatchObject({
    code: 'not-found',
    message: expect.stringContaining('does not serve'),
  });
  await repository.bring([hub.base()]);
  expect(await repository.resolve([hub.base()])).toEqual([hub.base()]);
});

test.each([
  ['a server that sends levels of folders', undefined],
  ['a server that refuses them', '0'],
])('folders of several levels from %s', async (_, depth) => {
  if (depth !== undefined) hub.repository.git('config', 'uploadpackfilter.tree.maxDepth', depth);
  const commit = hub.moveBase({ 'a/b/c/file': 'one' });
  const root = hub.repository.git('rev-parse', `${commit}^{tree}`);
  await repository.bringTrees([root], 3);
  const { requests } = hub.forge.git;
  expect(await entryAt(repository.objects, root, 'a/b')).toMatchObject({ mode: '40000' });
  expect(hub.forge.git.requests > requests).toBe(depth !== undefined);
  const file = await entryAt(repository.objects, root, 'a/b/c/file');
  expect((await repository.objects.read(file?.id ?? '', 100)).bytes.toString()).toBe('one');
});

test('a commit that comes after a history leaves that history whole', async () => {
  const [first, second, third] = [hub.base(), hub.moveBase({ a: '1' }), hub.moveBase({ a: '2' })];
  const beside = hub.repository.commit({ b: '1' }, { parents: [second], branch: 'beside' });
  await repository.bringHistory([third]);
  await repository.bring([second, beside]);
  expect(await leftBranchAt(repository, third, beside)).toBe(second);
  expect(await leftBranchAt(repository, beside, first)).toBe(first);
  expect((await repository.objects.read(await repository.objects.treeOf(beside), 1 << 20)).type).toBe('tree');
});
