/** One subject, one pull request: whatever comes twice, late, or in between. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { authorizationHeader } from '../../pipeline/git/process.ts';
import { openRemote } from '../../pipeline/git/remote.ts';
import type { Repository } from '../../pipeline/git/repository.ts';
import type { Content } from '../../pipeline/github/git-data.ts';
import { branchOf, type Proposed, proposeChange } from '../../pipeline/github/proposals/proposal.ts';
import { unpaced } from '../fakes/github/client.ts';
import { TOKEN } from '../fakes/github/forge.ts';
import { type Hub, openHub } from '../fakes/hub.ts';

let hub: Hub;
let repository: Repository;
beforeEach(async () => {
  hub = await openHub();
  const remote = { url: `${hub.forge.url}/example/catalogs.git`, header: authorizationHeader(TOKEN) };
  repository = openRemote(remote, { searchPath: process.env['PATH'] });
});
afterEach(async () => {
  await repository.close();
  await hub.close();
  expect(hub.forge.defects).toEqual([]);
});

type Files = Readonly<Record<string, string | Buffer | undefined>>;

function proposed(
  files: Files | undefined,
  meanwhile?: () => void,
  again = false,
  base = 'main',
): Promise<Proposed> {
  const github = unpaced(hub.forge);
  const name = { owner: 'example', repo: 'catalogs' };
  return proposeChange(
    { github, name, repository },
    {
      subject: 'drift/v4.20',
      base,
      again,
      make: async (tip) => {
        await repository.bring([tip]);
        meanwhile?.();
        if (!files) return undefined;
        const contents = Object.entries(files).map(([path, text]): [string, Content] => [
          path,
          typeof text === 'string' ? Buffer.from(text) : text,
        ]);
        return { title: 'Pin v4.20', body: `${contents.length} files\n`, files: new Map(contents) };
      },
    },
  );
}

const BRANCH = 'portolan/drift/v4.20';
const show = (path: string): string => hub.repository.git('show', `${BRANCH}:${path}`);
const pulls = () => [...hub.forge.pulls.values()];

test('a change is a commit on the newest tip and a pull request, once however often it comes', async () => {
  const files = {
    'operators/etcd/ci.yaml': 'reviewers: [bob]\n',
    'operators/free/Makefile': undefined,
    'a/b': 'é\n',
    bytes: Buffer.of(255, 0),
  };
  expect(await proposed(files)).toMatchObject({ kind: 'opened', branch: BRANCH, number: 7 });
  expect(hub.repository.git('rev-parse', `${BRANCH}^`)).toBe(hub.base());
  expect(hub.repository.git('diff', '--name-status', `${BRANCH}^`, BRANCH)).toBe(
    'A\ta/b\nA\tbytes\nM\toperators/etcd/ci.yaml\nD\toperators/free/Makefile',
  );
  expect(show('a/b')).toBe('é');
  expect(pulls()).toMatchObject([{ author: 'github-actions[bot]', title: 'Pin v4.20', body: '4 files\n' }]);
  const [head] = pulls().map((one) => one.head);
  expect(await proposed(files)).toMatchObject({ kind: 'standing', number: 7 });
  // What else moves on the branch is no reason for another commit.
  hub.moveBase({ 'README.md': 'other words' });
  expect(await proposed(files)).toMatchObject({ kind: 'standing', number: 7 });
  expect(pulls().map((one) => one.head)).toEqual([head]);
});

test('another change is one more commit on the branch, and shows nothing of what was merged meanwhile', async () => {
  await proposed({ 'a/b': '1\n', 'a/c': '1\n' });
  const first = hub.repository.git('rev-parse', BRANCH);
  hub.moveBase({ 'README.md': 'other words' });
  expect(await proposed({ 'a/b': '2\n' })).toMatchObject({ kind: 'updated', number: 7 });
  expect(hub.repository.git('rev-parse', `${BRANCH}^1`, `${BRANCH}^2`).split('\n')).toEqual([
    first,
    hub.base(),
  ]);
  expect(hub.repository.git('diff', '--name-status', `main...${BRANCH}`)).toBe('A\ta/b');
  expect(pulls()).toHaveLength(1);
  expect(pulls()[0]?.body).toBe('1 files\n');
});

test('the branch that moves while the change is made: it is made again', async () => {
  let times = 0;
  const once = (): void => {
    if (times++ === 0) hub.moveBase({ 'README.md': 'moved' });
  };
  expect((await proposed({ 'a/b': '1\n' }, once)).kind).toBe('opened');
  expect(times).toBe(2);
  expect(hub.repository.git('rev-parse', `${BRANCH}^`)).toBe(hub.base());
  let always = 0;
  const moving = (): void => void hub.moveBase({ 'README.md': `moved ${always++}` });
  await expect(proposed({ 'a/b': '2\n' }, moving)).rejects.toMatchObject({
    code: 'conflict',
    retryable: true,
  });
});

test('when nothing is left it is closed, and its branch is gone; later it is a new one', async () => {
  expect((await proposed(undefined)).kind).toBe('nothing');
  await proposed({ 'a/b': '1\n' });
  hub.moveBase({ 'a/b': '1\n' });
  expect(await proposed({ 'a/b': '1\n' })).toMatchObject({ kind: 'closed', number: 7 });
  expect(hub.forge.comments.get(7)?.[0]?.body).toContain('Nothing left to change');
  expect(hub.repository.git('branch', '--list', 'portolan/*')).toBe('');
  expect(await proposed({ 'a/b': '2\n' })).toMatchObject({ kind: 'opened', number: 8 });
});

test('what somebody closed is not opened again, unless it is another change or asked for', async () => {
  await proposed({ 'a/b': '1\n' });
  for (const pull of pulls()) pull.state = 'closed';
  expect(await proposed({ 'a/b': '1\n' })).toMatchObject({ kind: 'declined', number: 7 });
  expect(await proposed({ 'a/b': '1\n' }, undefined, true)).toMatchObject({ kind: 'opened', number: 8 });
  for (const pull of pulls()) pull.state = 'closed';
  expect(await proposed({ 'a/b': '2\n' })).toMatchObject({ kind: 'opened', number: 9 });
});

test('a commit of somebody else makes the branch theirs; GitHub’s own merge of the base does not', async () => {
  await proposed({ 'a/b': '1\n' });
  const [pull] = pulls();
  hub.moveBase({ 'README.md': 'other words' });
  const tree = hub.repository.git('merge-tree', '--write-tree', BRANCH, 'main');
  const merge = hub.repository.git(
    'commit-tree',
    tree,
    '-p',
    BRANCH,
    '-p',
    'main',
    '-m',
    'Merge branch main',
  );
  hub.repository.git('update-ref', `refs/heads/${BRANCH}`, merge);
  expect((await proposed({ 'a/b': '1\n' })).kind).toBe('standing');
  expect((await proposed({ 'a/b': '2\n' })).kind).toBe('updated');
  const theirs = hub.repository.commit(
    { 'a/b': '3\n' },
    { parents: [BRANCH], branch: BRANCH, author: 'carol' },
  );
  expect((await proposed({ 'a/b': '4\n' })).kind).toBe('taken');
  expect((await proposed(undefined)).kind).toBe('taken');
  expect(hub.repository.git('rev-parse', BRANCH)).toBe(theirs);
  expect(pull?.state).toBe('open');
});

test('a branch that somebody else pushed under the name of the change is not what is opened', async () => {
  await proposed({ 'a/b': '1\n' });
  const message = `By hand\n\n${hub.repository.git('show', '--no-patch', '--format=%B', BRANCH)}`;
  hub.forge.pulls.clear();
  hub.repository.git('update-ref', '-d', `refs/heads/${BRANCH}`);
  const push = (files: Record<string, string>, parent: string): string => {
    const commit = hub.repository.commit(files, { parents: [parent], branch: 'side' });
    const tree = `${commit}^{tree}`;
    const forged = hub.repository.git('commit-tree', tree, '-p', parent, '-m', message);
    hub.repository.git('update-ref', `refs/heads/${BRANCH}`, forged);
    return forged;
  };
  const theirs = push({ 'a/b': '1\n' }, hub.base());
  expect(await proposed({ 'a/b': '1\n' })).toMatchObject({ kind: 'opened', number: 7 });
  expect(hub.repository.git('rev-list', BRANCH).split('\n')).not.toContain(theirs);
  // Nor is what they push onto the open one its change, unless it is.
  const [pull] = pulls();
  for (const more of [{ 'a/b': '2\n' }, { 'a/b': '1\n', 'a/bc': 'evil' }]) {
    if (pull) pull.head = push(more, BRANCH);
    expect((await proposed({ 'a/b': '1\n' })).kind).toBe('updated');
    expect(hub.repository.git('diff', '--name-only', `main...${BRANCH}`)).toBe('a/b');
    expect(show('a/b')).toBe('1');
    expect((await proposed({ 'a/b': '1\n' })).kind).toBe('standing');
  }
});

test('what is for other branches has branches of its own, and takes back nothing of theirs', async () => {
  for (const base of ['release-4.18', 'release/4.18']) hub.repository.git('branch', base, 'main');
  expect(await proposed({ 'a/b': '1\n' })).toMatchObject({ kind: 'opened', number: 7, branch: BRANCH });
  expect((await proposed(undefined, undefined, false, 'release-4.18')).kind).toBe('nothing');
  const other = await proposed({ 'a/b': '1\n' }, undefined, false, 'release-4.18');
  expect(other).toMatchObject({
    kind: 'opened',
    number: 8,
    branch: 'portolan/onto/release-4.18/drift/v4.20',
  });
  const third = await proposed({ 'a/b': '1\n' }, undefined, false, 'release/4.18');
  expect(third.branch).toMatch(/^portolan\/onto\/release-4\.18-[0-9a-f]{8}\/drift\/v4\.20$/);
  expect((await proposed(undefined)).kind).toBe('closed');
  expect(pulls().map(({ state, into }) => [state, into])).toEqual([
    ['closed', 'main'],
    ['open', 'release-4.18'],
    ['open', 'release/4.18'],
  ]);
});

test('a push between looking and writing is not overwritten', async () => {
  await proposed({ 'a/b': '1\n' });
  let theirs = '';
  hub.forge.faults.push(({ operation }) => {
    if (theirs === '' && operation.startsWith('PATCH /repos/{owner}/{repo}/git/refs/'))
      theirs = hub.repository.commit(
        { 'a/c': 'mine' },
        { parents: [BRANCH], branch: BRANCH, author: 'carol' },
      );
    return undefined;
  });
  expect((await proposed({ 'a/b': '2\n' })).kind).toBe('taken');
  expect(hub.repository.git('rev-parse', BRANCH)).toBe(theirs);
});

test.each(['POST /repos/{owner}/{repo}/pulls', 'POST /repos/{owner}/{repo}/git/refs'])(
  'a run that dies at %s is finished by the next',
  async (operation) => {
    hub.forge.faults.push((asked) => (asked.operation === operation ? { status: 400 } : undefined));
    await expect(proposed({ 'a/b': '1\n' })).rejects.toThrow();
    hub.forge.faults.length = 0;
    expect((await proposed({ 'a/b': '1\n' })).kind).toBe('opened');
    expect((await proposed({ 'a/b': '1\n' })).kind).toBe('standing');
    expect(pulls()).toHaveLength(1);
  },
);

test('a job that may open none says what it needs', async () => {
  hub.forge.faults.push(({ operation }) =>
    operation === 'POST /repos/{owner}/{repo}/pulls'
      ? { status: 403, data: { message: 'not permitted' } }
      : undefined,
  );
  await expect(proposed({ 'a/b': '1\n' })).rejects.toMatchObject({
    code: 'denied',
    hint: expect.stringContaining('pull-requests: write'),
  });
});

test('names of branches that git takes', () => {
  expect(branchOf('drift/v4.20')).toBe('portolan/drift/v4.20');
  for (const odd of [
    'drift/a..b',
    'drift/x.lock',
    'drift/a b~^:?*[',
    'drift/end.',
    'drift/.x',
    'drift/@{1}',
  ]) {
    const branch = branchOf(odd);
    expect(hub.repository.git('check-ref-format', '--branch', branch)).toBe(branch);
  }
});
