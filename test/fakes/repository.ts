/** Real git repositories for tests. Commits are written as loose objects: a process for each takes longer than most tests. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LooseObjects, looseObjects, type TreeFile } from './loose-objects.ts';

/** A file's text, null to remove it, or a mode with text (a link's target) or an id (a submodule's commit). */
export type Written =
  | string
  | null
  | { readonly mode: string; readonly text: string }
  | { readonly mode: '160000'; readonly id: string };

/** Paths with what is written there. */
export type Files = Readonly<Record<string, Written>>;

export interface CommitOptions {
  readonly parents?: readonly string[];
  readonly message?: string;
  readonly author?: string;
  readonly committer?: string;
  /** The branch that is moved to the commit. */
  readonly branch?: string;
}

export interface TestRepository {
  readonly directory: string;
  /** Commits changes on top of the first parent; returns the id. */
  commit(files: Files, options?: CommitOptions): string;
  /** What {@link commit} wrote, without asking git. */
  written(commit: string): WrittenCommit | undefined;
  /** A chain of commits that begins anew, a day between them; returns their ids. */
  chain(...all: readonly Files[]): string[];
  git(...parameters: readonly string[]): string;
  /** Runs git with input; returns what it prints, trimmed. */
  feed(input: string | Buffer, ...parameters: readonly string[]): string;
  remove(): void;
}

export interface WrittenCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  /** When it was committed, ISO 8601. */
  readonly date: string;
  /** What it changed. */
  readonly files: Files;
}

const DAY = 86_400;

const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'anna',
  GIT_AUTHOR_EMAIL: 'anna@example.com',
  GIT_COMMITTER_NAME: 'anna',
  GIT_COMMITTER_EMAIL: 'anna@example.com',
};

/** Makes an empty repository in a directory of its own. */
export function makeRepository(...options: readonly string[]): TestRepository {
  const directory = mkdtempSync(join(tmpdir(), 'portolan-test-'));
  const feed = (input: string | Buffer, ...parameters: readonly string[]): string =>
    execFileSync('git', ['-C', directory, ...parameters], {
      input,
      env: ENVIRONMENT,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['pipe', 'pipe', 'pipe'],
    }).trimEnd();
  // The usual layout of `git init`; whatever else is asked for, git makes.
  const hash = options.includes('--object-format=sha256') ? 'sha256' : 'sha1';
  const store = looseObjects(join(directory, options.includes('--bare') ? '' : '.git'), hash);
  if (options.length === 0) store.init();
  else feed('', 'init', '--quiet', '--initial-branch=main', ...options);
  const listed = new Map<string, ReadonlyMap<string, TreeFile>>();
  const filesOf = (commit: string | undefined): ReadonlyMap<string, TreeFile> => {
    if (commit === undefined) return new Map();
    const known = listed.get(commit) ?? listing(feed('', 'ls-tree', '-rz', '--full-tree', commit));
    listed.set(commit, known);
    return known;
  };
  const written = new Map<string, WrittenCommit>();
  let time = 1_700_000_000;
  const write = (files: Files, { parents: given = [], ...rest }: CommitOptions): string => {
    const parents = given.map((parent) =>
      /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(parent) ? parent : feed('', 'rev-parse', parent),
    );
    const after = new Map(filesOf(parents[0]));
    for (const [path, written] of Object.entries(files)) put(after, path, written, store);
    const author = rest.author ?? 'anna';
    const person = (name: string): string => `${name} <${name}@example.com> ${time} +0000`;
    const tree = store.tree(after);
    const commit = store.commit({
      tree,
      parents,
      author: person(author),
      committer: person(rest.committer ?? author),
      message: rest.message ?? 'a change',
    });
    written.set(commit, { tree, parents, files, date: new Date(time * 1000).toISOString() });
    time++;
    listed.set(commit, after);
    store.branch(rest.branch ?? 'main', commit);
    return commit;
  };
  /** What is known without a process of git: a file of a commit that was written here; and moves a branch. */
  const quick = ([command, ...rest]: readonly string[]): string | undefined => {
    const [first = '', name = '', commit = ''] = rest;
    if (command === 'branch' && first === '-f' && written.has(commit)) {
      store.branch(name, commit);
      return '';
    }
    if (!(command === 'show' && rest.length === 1) && !(command === 'cat-file' && first === 'blob'))
      return undefined;
    const [, id = '', path = ''] = /^([0-9a-f]{40}):(.+)$/.exec(rest.at(-1) ?? '') ?? [];
    const file = written.has(id) ? listed.get(id)?.get(path) : undefined;
    return file && store.content(file.id)?.toString('utf8').trimEnd();
  };
  return {
    directory,
    feed,
    git: (...parameters) => quick(parameters) ?? feed('', ...parameters),
    commit: (files, commitOptions = {}) => write(files, commitOptions),
    written: (commit) => written.get(commit),
    chain: (...all) => {
      const start = time;
      const ids: string[] = [];
      for (const files of all) {
        ids.push(write(files, { branch: `chain-${start}`, parents: ids.slice(-1) }));
        time += DAY;
      }
      time = start + 1;
      return ids;
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** The files of `git ls-tree -rz`. */
function listing(output: string): ReadonlyMap<string, TreeFile> {
  const files = new Map<string, TreeFile>();
  for (const line of output.split('\0').filter(Boolean)) {
    const [, mode = '', id = '', path = ''] = /^(\d+) \w+ (\w+)\t(.*)$/s.exec(line) ?? [];
    files.set(path, { mode, id });
  }
  return files;
}

/** Writes or removes a path, in place of whatever is at it, below it, or a file above it. */
function put(files: Map<string, TreeFile>, path: string, written: Written, store: LooseObjects): void {
  files.delete(path);
  for (const other of files.keys()) {
    if (other.startsWith(`${path}/`) || (written !== null && path.startsWith(`${other}/`)))
      files.delete(other);
  }
  if (written === null) return;
  if (typeof written === 'string') files.set(path, { mode: '100644', id: store.blob(written) });
  else if ('id' in written) files.set(path, { mode: written.mode, id: written.id });
  else files.set(path, { mode: written.mode, id: store.blob(written.text) });
}

/** Runs git once for the same words. */
export function remembering(git: TestRepository['git']): TestRepository['git'] {
  const known = new Map<string, string>();
  return (...words) => {
    const key = words.join('\0');
    const text = known.get(key) ?? git(...words);
    known.set(key, text);
    return text;
  };
}

/** A file of a commit in base64; undefined where there is none. */
export function fileAt({ git }: TestRepository, commit: string, path: string): string | undefined {
  try {
    return Buffer.from(git('cat-file', 'blob', `${commit}:${path}`)).toString('base64');
  } catch {
    return undefined;
  }
}
