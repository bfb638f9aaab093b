/** Writes git's loose objects and refs, as git does. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';

export interface TreeFile {
  readonly mode: string;
  readonly id: string;
}

export interface CommitText {
  readonly tree: string;
  readonly parents: readonly string[];
  /** Name, address and time, as in the object. */
  readonly author: string;
  readonly committer: string;
  readonly message: string;
}

export interface LooseObjects {
  /** Makes the folder a repository whose branch is `main`. */
  init(): void;
  /** Each of these returns the id of the object. */
  blob(text: string): string;
  tree(files: ReadonlyMap<string, TreeFile>): string;
  commit(text: CommitText): string;
  /** The content of an object that was written here; undefined if git has packed it. */
  content(id: string): Buffer | undefined;
  /** Points a branch at a commit. */
  branch(name: string, commit: string): void;
}

/** @param folder the repository's git directory */
export function looseObjects(folder: string, hash: 'sha1' | 'sha256' = 'sha1'): LooseObjects {
  const write = (kind: string, content: Buffer): string => {
    const bytes = Buffer.concat([Buffer.from(`${kind} ${content.length}\0`), content]);
    const id = createHash(hash).update(bytes).digest('hex');
    const path = join(folder, 'objects', id.slice(0, 2), id.slice(2));
    if (existsSync(path)) return id;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, deflateSync(bytes, { level: 1 }), { mode: 0o444 });
    return id;
  };
  const tree = (files: ReadonlyMap<string, TreeFile>): string => {
    const entries = new Map<string, TreeFile>();
    const below = new Map<string, Map<string, TreeFile>>();
    for (const [path, file] of files) {
      const slash = path.indexOf('/');
      if (slash < 0) {
        entries.set(path, file);
        continue;
      }
      const inner = below.get(path.slice(0, slash)) ?? new Map<string, TreeFile>();
      below.set(path.slice(0, slash), inner.set(path.slice(slash + 1), file));
    }
    for (const [name, inner] of below) entries.set(name, { mode: '40000', id: tree(inner) });
    // A folder is sorted as if its name ended with a slash.
    const key = ([name, { mode }]: readonly [string, TreeFile]): Buffer =>
      Buffer.from(mode === '40000' ? `${name}/` : name);
    const sorted = [...entries].sort((a, b) => Buffer.compare(key(a), key(b)));
    const lines = sorted.map(([name, { mode, id }]) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
    );
    return write('tree', Buffer.concat(lines));
  };
  const branch = (name: string, commit: string): void => {
    const path = join(folder, 'refs/heads', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${commit}\n`);
  };
  return {
    init: () => {
      for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info'])
        mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
      writeFileSync(
        join(folder, 'config'),
        '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n',
      );
    },
    blob: (text) => write('blob', Buffer.from(text)),
    tree,
    content: (id) => {
      const path = join(folder, 'objects', id.slice(0, 2), id.slice(2));
      if (!existsSync(path)) return undefined;
      const bytes = inflateSync(readFileSync(path));
      return bytes.subarray(bytes.indexOf(0) + 1);
    },
    commit: ({ tree: root, parents, author, committer, message }) =>
      write(
        'commit',
        Buffer.from(
          [
            `tree ${root}`,
            ...parents.map((parent) => `parent ${parent}`),
            `author ${author}`,
            `committer ${committer}`,
            '',
            message,
          ].join('\n'),
        ),
      ),
    branch,
  };
}
