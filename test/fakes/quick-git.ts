/** Answers of git about commits that a test has written, from memory: a process for each takes longer than all else of a sequence. */
import type { TestRepository, WrittenCommit } from './repository.ts';

/** Ids of the tips of branches. */
export type TipOf = (branch: string) => string | undefined;

/**
 * The same as `git` for what the fake forges ask; git itself answers whatever else there is, once for the same words.
 *
 * @param tipOf of branches that move without git
 */
export function quickGit(
  { git, written }: Pick<TestRepository, 'git' | 'written'>,
  tipOf: TipOf,
): TestRepository['git'] {
  const known = new Map<string, string>();
  const named = (word: string): string =>
    word.replace(/^(?:refs\/heads\/)?([a-z0-9-]+)(?=$|:)/, (whole, branch: string) => tipOf(branch) ?? whole);
  return (...all) => {
    const words = all.map(named);
    const key = words.join('\0');
    const before = known.get(key);
    if (before !== undefined) return before;
    const answer = fromMemory(words, written) ?? git(...words);
    known.set(key, answer);
    return answer;
  };
}

type Written = (commit: string) => WrittenCommit | undefined;

function fromMemory(words: readonly string[], written: Written): string | undefined {
  const [command, ...rest] = words;
  switch (command) {
    case 'rev-parse': {
      const id = rest.at(-1) ?? '';
      return written(id) ? id : undefined;
    }
    case 'merge-base':
      return rest.every(written) ? commonAncestor(rest[0] ?? '', rest[1] ?? '', written) : undefined;
    case 'rev-list':
      return between(rest, written);
    case 'log':
      return changesOf(rest, written);
    default:
      return undefined;
  }
}

/** A commit with all of its ancestors, the nearest first. */
function withAncestors(commit: string, written: Written): Set<string> {
  const all = new Set([commit]);
  for (const one of all) for (const parent of written(one)?.parents ?? []) all.add(parent);
  return all;
}

function commonAncestor(one: string, other: string, written: Written): string | undefined {
  const theirs = withAncestors(other, written);
  // Enough for histories in which nothing is merged.
  return [...withAncestors(one, written)].find((commit) => theirs.has(commit));
}

/** `rev-list --reverse --parents A..B`. */
function between(words: readonly string[], written: Written): string | undefined {
  const [, base = '', head = ''] = /^(\w{40})\.\.(\w{40})$/.exec(words.at(-1) ?? '') ?? [];
  if (words.slice(0, -1).join(' ') !== '--reverse --parents' || !written(base) || !written(head))
    return undefined;
  const behind = withAncestors(base, written);
  const ahead = [...withAncestors(head, written)].filter((commit) => !behind.has(commit));
  return ahead
    .reverse()
    .map((commit) => [commit, ...(written(commit)?.parents ?? [])].join(' '))
    .join('\n');
}

/** `log --max-count=N --format=%H %T %cI COMMIT -- PATH`. */
function changesOf(words: readonly string[], written: Written): string | undefined {
  const [most = '', format, commit = '', , path = ''] = words;
  if (format !== '--format=%H %T %cI' || !written(commit)) return undefined;
  const isIn = (file: string): boolean => path === '.' || file === path || file.startsWith(`${path}/`);
  const lines = [...withAncestors(commit, written)].flatMap((id) => {
    const { files = {}, tree, date } = written(id) ?? {};
    return Object.keys(files).some(isIn) ? [`${id} ${tree} ${date}`] : [];
  });
  return lines.slice(0, Number(most.replace('--max-count=', ''))).join('\n');
}

/** Asks only once for the same request. */
export function once<R, A, T>(
  ask: (repository: R, request: A) => Promise<T>,
): (repository: R, request: A) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (repository, request) => {
    const key = JSON.stringify(request);
    const asked = known.get(key) ?? ask(repository, request);
    known.set(key, asked);
    return asked;
  };
}
