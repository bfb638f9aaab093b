/** What may be written on the fake GitHub: git's objects and refs, into the real repository, and pull requests. */
import type { TestRepository } from '../repository.ts';
import type { FakeForge, FakePull } from './forge.ts';
import type { Answer, Asked, Routes } from './server.ts';

type Account = (login: string | null | undefined) => unknown;

export function writingRoutes(forge: FakeForge, repository: TestRepository, account: Account): Routes {
  const git = repository.git;
  const data = (pull: FakePull) => pullData(pull, account, forge);
  return {
    'POST /repos/{owner}/{repo}/git/blobs': ({ body }) => {
      const bytes = Buffer.from(body.content, body.encoding === 'base64' ? 'base64' : 'utf8');
      return { status: 201, data: { sha: repository.feed(bytes, 'hash-object', '-w', '--stdin') } };
    },
    'POST /repos/{owner}/{repo}/git/trees': ({ body }) => ({
      status: 201,
      data: { sha: treeOf(repository, body) },
    }),
    'POST /repos/{owner}/{repo}/git/commits': ({ body }) => {
      const parents = (body.parents ?? []).flatMap((parent: string) => ['-p', parent]);
      const writer = ['-c', `user.name=${forge.writer}`, '-c', 'user.email=bot@example.com'];
      const sha = git(...writer, 'commit-tree', body.tree, ...parents, '-m', body.message);
      return { status: 201, data: commitData(repository, sha) };
    },
    'GET /repos/{owner}/{repo}/git/commits/{commit_sha}': ({ path }) => {
      const sha = attempt(() => git('rev-parse', '--verify', `${path['commit_sha']}^{commit}`));
      return sha === undefined ? { status: 404 } : { data: commitData(repository, sha) };
    },
    'GET /repos/{owner}/{repo}/git/matching-refs/{ref}': ({ path }) => ({
      data: git(
        'for-each-ref',
        '--format=%(objectname) %(refname)',
        `refs/${path['ref']}*`,
        `refs/${path['ref']}**`,
      )
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(' '))
        .map(([sha, ref]) => ({ ref, object: { type: 'commit', sha } })),
    }),
    'POST /repos/{owner}/{repo}/git/refs': ({ body }) => {
      if (attempt(() => git('rev-parse', '--verify', '--quiet', body.ref)) !== undefined)
        return { status: 422, data: { message: 'Reference already exists' } };
      git('update-ref', body.ref, body.sha);
      return { status: 201, data: { ref: body.ref, object: { type: 'commit', sha: body.sha } } };
    },
    'PATCH /repos/{owner}/{repo}/git/refs/{ref}': ({ path, body }) => {
      const ref = `refs/${path['ref']}`;
      if (
        body.force !== true &&
        attempt(() => git('merge-base', '--is-ancestor', ref, body.sha)) === undefined
      )
        return { status: 422, data: { message: 'Update is not a fast forward' } };
      git('update-ref', ref, body.sha);
      for (const pull of forge.pulls.values()) if (`refs/heads/${pull.branch}` === ref) pull.head = body.sha;
      return { data: { ref, object: { type: 'commit', sha: body.sha } } };
    },
    'DELETE /repos/{owner}/{repo}/git/refs/{ref}': ({ path }) => {
      const ref = `refs/${path['ref']}`;
      git('update-ref', '-d', ref);
      for (const pull of forge.pulls.values()) if (`refs/heads/${pull.branch}` === ref) pull.state = 'closed';
      return { status: 204 };
    },
    'GET /repos/{owner}/{repo}/pulls': ({ query }) => ({
      data: [...forge.pulls.values()]
        .filter(
          (pull) =>
            pull.state === (query['state'] ?? 'open') &&
            (query['head'] ?? `${headOwner(pull)}:${pull.branch}`) === `${headOwner(pull)}:${pull.branch}` &&
            (query['base'] ?? pull.into ?? 'main') === (pull.into ?? 'main'),
        )
        .reverse()
        .map(data),
    }),
    'POST /repos/{owner}/{repo}/pulls': (asked) => opened(forge, repository, { asked, data }),
    'PATCH /repos/{owner}/{repo}/pulls/{pull_number}': ({ path, body }) => {
      const pull = forge.pulls.get(Number(path['pull_number']));
      if (!pull) return { status: 404 };
      Object.assign(pull, body);
      return { data: data(pull) };
    },
  };
}

/** Whose repository has the head: whoever opened it, a branch of the pipeline is in the repository itself. */
export function headOwner({ branch, author }: Pick<FakePull, 'branch' | 'author'>): string {
  return branch.startsWith('portolan/') ? 'example' : author;
}

/** A pull request as GitHub shows it. */
export function pullData(
  {
    number,
    author,
    base,
    into = 'main',
    head,
    branch,
    draft,
    state,
    labels,
    title = 'a change',
    body = '',
    merged = false,
  }: FakePull,
  account: Account,
  { pulls, url }: FakeForge,
): object {
  const owner = headOwner({ branch, author });
  const repository = { name: 'catalogs', full_name: `${owner}/catalogs`, owner: account(author) };
  return {
    number,
    draft,
    state,
    title,
    body,
    html_url: `${url}/example/catalogs/pull/${number}`,
    merged_at: merged ? '2026-01-01T00:00:00Z' : null,
    user: account(author),
    labels: labels.map((name) => ({ name })),
    base: { ref: into, sha: base, repo: { name: 'catalogs' } },
    head: { ref: branch, sha: head, repo: repository },
    commits: pulls.get(number)?.commits?.length ?? 1,
  };
}

interface Opening {
  readonly asked: Asked;
  readonly data: (pull: FakePull) => unknown;
}

function opened(forge: FakeForge, { git }: TestRepository, { asked: { body }, data }: Opening): Answer {
  const standing = [...forge.pulls.values()].some(
    ({ state, branch }) => state === 'open' && branch === body.head,
  );
  if (standing)
    return { status: 422, data: { message: `A pull request already exists for example:${body.head}.` } };
  const pull: FakePull = {
    number: Math.max(6, ...forge.pulls.keys()) + 1,
    author: forge.writer,
    base: git('rev-parse', body.base),
    into: body.base,
    head: git('rev-parse', `refs/heads/${body.head}`),
    branch: body.head,
    pusher: forge.writer,
    draft: false,
    state: 'open',
    labels: [],
    reviews: [],
    title: body.title,
    body: body.body,
  };
  forge.pulls.set(pull.number, pull);
  return { status: 201, data: data(pull) };
}

interface TreeBody {
  readonly base_tree: string;
  readonly tree: readonly {
    readonly path: string;
    readonly mode: string;
    readonly sha?: string | null;
    readonly content?: string;
  }[];
}

/** A tree on top of another one, by an index of its own. */
function treeOf(repository: TestRepository, { base_tree: base, tree }: TreeBody): string {
  const { git, feed } = repository;
  git('read-tree', base);
  for (const { path, mode, content, ...entry } of tree) {
    const sha = content === undefined ? entry.sha : feed(content, 'hash-object', '-w', '--stdin');
    const inside = git('ls-files', '--', path).split('\n').filter(Boolean);
    if (sha === null && inside.length === 0) throw new Error(`${path} is not in the tree`);
    if (inside.length > 0) feed(inside.join('\n'), 'update-index', '--force-remove', '--stdin');
    if (sha === null || sha === undefined) continue;
    if (mode === '040000') git('read-tree', `--prefix=${path}/`, sha);
    else git('update-index', '--add', '--cacheinfo', `${mode},${sha},${path}`);
  }
  return git('write-tree');
}

function commitData({ git }: TestRepository, sha: string) {
  const [parents = '', ...message] = git('show', '--no-patch', '--format=%P%n%B', sha).split('\n');
  return {
    sha,
    message: message.join('\n'),
    parents: parents
      .split(' ')
      .filter(Boolean)
      .map((parent) => ({ sha: parent })),
  };
}

function attempt(act: () => string): string | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
