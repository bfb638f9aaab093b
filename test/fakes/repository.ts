/** Real git repositories for tests, made by `git fast-import`, one process a commit. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
  /** A chain of commits that begins anew; returns their ids, made by one process. */
  chain(...all: readonly Files[]): string[];
  git(...parameters: readonly string[]): string;
  /** Runs git with input; returns what it prints, trimmed. */
  feed(input: string | Buffer, ...parameters: readonly string[]): string;
  remove(): void;
}

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
      stdio: ['pipe', 'pipe', 'pipe'],
    }).trimEnd();
  feed('', 'init', '--quiet', '--initial-branch=main', ...options);
  let time = 1_700_000_000;
  return {
    directory,
    feed,
    git: (...parameters) => feed('', ...parameters),
    commit: (files, commitOptions = {}) => {
      const branch = commitOptions.branch ?? 'main';
      feed(fastImport(files, { ...commitOptions, branch }, time++), 'fast-import', '--quiet', '--force');
      return feed('', 'rev-parse', branch);
    },
    chain: (...all) => {
      const chunks = all.map((files, i) =>
        fastImport(files, { branch: `chain-${time}`, parents: i === 0 ? [] : [`:${i}`] }, time + i, i + 1),
      );
      time += all.length;
      const asked = all.map((_, i) => `get-mark :${i + 1}\n`).join('');
      return feed(Buffer.concat([...chunks, Buffer.from(asked)]), 'fast-import', '--quiet').split('\n');
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function fastImport(
  files: Files,
  options: CommitOptions & { readonly branch: string },
  time: number,
  mark?: number,
): Buffer {
  const person = (name: string): string => `${name} <${name}@example.com> ${time} +0000`;
  const [first, ...others] = options.parents ?? [];
  const chunks = [
    `commit refs/heads/${options.branch}\n`,
    ...(mark === undefined ? [] : [`mark :${mark}\n`]),
    `author ${person(options.author ?? 'anna')}\n`,
    `committer ${person(options.committer ?? options.author ?? 'anna')}\n`,
    data(options.message ?? 'a change'),
    ...(first === undefined ? [] : [`from ${first}\n`]),
    ...others.map((parent) => `merge ${parent}\n`),
    ...Object.entries(files).map(([path, written]) => fileCommand(JSON.stringify(path), written)),
    '\n',
  ];
  return Buffer.from(chunks.join(''));
}

function fileCommand(path: string, written: Written): string {
  if (written === null) return `D ${path}\n`;
  if (typeof written === 'string') return `M 100644 inline ${path}\n${data(written)}`;
  if ('id' in written) return `M ${written.mode} ${written.id} ${path}\n`;
  return `M ${written.mode} inline ${path}\n${data(written.text)}`;
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
