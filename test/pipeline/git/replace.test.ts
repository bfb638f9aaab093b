/** Trees in which some files have other texts. */
import { expect, onTestFinished, test } from 'vitest';
import { treeWith } from '../../../pipeline/git/replace.ts';
import { openRepository } from '../../../pipeline/git/repository.ts';
import { entryAt } from '../../../pipeline/git/tree.ts';
import { makeRepository } from '../../fakes/repository.ts';

test('a file keeps its mode, and a text in place of a link is a file', async () => {
  const made = makeRepository();
  onTestFinished(made.remove);
  const commit = made.commit({
    'a/plain.sh': { mode: '100755', text: 'echo\n' },
    'a/link.yaml': { mode: '120000', text: '../../etc/passwd' },
  });
  const repository = await openRepository(made.directory, { searchPath: process.env['PATH'] });
  onTestFinished(() => repository.close());
  const tree = await treeWith(repository, {
    directory: made.directory,
    tree: await repository.objects.treeOf(commit),
    texts: new Map([
      ['a/plain.sh', 'date\n'],
      ['a/link.yaml', 'schema: x\n'],
    ]),
  });
  const modeOf = async (path: string) => (await entryAt(repository.objects, tree, path))?.mode;
  expect([await modeOf('a/plain.sh'), await modeOf('a/link.yaml')]).toEqual(['100755', '100644']);
});

test('nothing is written beside a name that is not UTF-8, which would be another one', async () => {
  const made = makeRepository();
  onTestFinished(made.remove);
  const blob = made.feed('x', 'hash-object', '-w', '--stdin');
  const listing = Buffer.concat([Buffer.from(`100644 blob ${blob}\tcaf`), Buffer.from([0xe9, 0])]);
  const tree = made.feed(listing, 'mktree', '-z');
  const repository = await openRepository(made.directory, { searchPath: process.env['PATH'] });
  onTestFinished(() => repository.close());
  const texts = new Map([['a.yaml', 'schema: x\n']]);
  const written = treeWith(repository, { directory: made.directory, tree, texts });
  await expect(written).rejects.toMatchObject({ code: 'usage' });
});
