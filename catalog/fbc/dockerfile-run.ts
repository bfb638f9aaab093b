/** Where the programs of a Dockerfile may write, as far as their text tells. */
import { groupedBy } from '../go/grouped.ts';
import { onceFor } from '../go/once.ts';
import { isWithin, pathAt, type Stage, withoutSlash } from './dockerfile.ts';

/** Commands that run in one folder, as one text. */
type Commands = Stage['runs'][number];

/** The commands of a stage's programs that may write files, those that run in one folder as one text. */
export const writingCommands: (stage: Stage) => readonly Commands[] = onceFor(({ runs }) => {
  const commands = runs.flatMap(({ text, folder }) =>
    text
      .split(/&&|\|\||[;|\n]/)
      .filter((command) => !isReading(command))
      .map((command) => ({ text: command, folder })),
  );
  return [...groupedBy(commands, ({ folder }) => folder)].map(([folder, inFolder]) => ({
    text: inFolder.map(({ text }) => text).join('\n'),
    folder,
  }));
});

/** Whether a command leaves the content of files as it is: filling the cache of opm only reads the catalog. */
function isReading(command: string): boolean {
  return (
    !/[<>`$]/.test(command) &&
    /--cache-(?:only|dir)|\bopm[",\s]+validate\b|^\s*(?:chgrp|chmod|chown|ls|mkdir) /.test(command)
  );
}

/**
 * Whether commands may write files below a folder: they run in it, name it or a folder above it, or have a variable that
 * only the build knows.
 */
export function mayWrite(commands: Commands, target: string): boolean {
  const { folder, text } = commands;
  if (folder === undefined || isWithin(withoutSlash(folder), target) || text.includes(target)) return true;
  const named = namedBy(commands);
  return named === undefined || named.some((one) => reaches(one, target));
}

/** A path that commands name, or the beginning of the paths that a pattern names. */
interface Named {
  readonly path: string;
  readonly isPattern: boolean;
}

function reaches({ path, isPattern }: Named, target: string): boolean {
  if (isPattern && target.startsWith(path)) return true;
  return isWithin(path, target) || path === '/' || isWithin(target, path);
}

/** Most folders that commands enter and are followed through. */
const MOST_ENTERED = 20;

/** What commands name, from each folder that they enter; undefined if that may be anything. */
const namedBy = onceFor(({ text, folder = '/' }: Commands): readonly Named[] | undefined => {
  // What a shell puts in place of a variable, a program or a home folder is not in the text; nor is what a program of
  // another image does.
  if (/[`$]|(?:^|\s)~|--mount=\S*\bfrom=/.test(text)) return undefined;
  const words = wordsOf(text);
  const folders = [folder];
  for (const [i, word] of words.entries())
    if (ENTERING.has(words[i - 1] ?? '')) folders.push(pathAt(folders.at(-1) ?? '/', word));
  const different = new Set(folders);
  if (different.size > MOST_ENTERED) return undefined;
  return [...different].flatMap((at) => words.map((word) => namedAt(at, word)));
});

const ENTERING: ReadonlySet<string> = new Set(['cd', 'pushd', 'chdir', '-C']);

/** The words of commands as a shell reads them; values of options are words of their own. */
function wordsOf(text: string): readonly string[] {
  const words = text.replaceAll(/["'\\]/g, '').split(/[\s=,:;&|<>()]+/);
  return words.filter((word) => word !== '');
}

function namedAt(folder: string, word: string): Named {
  const at = word.search(/[*?[{]/);
  if (at < 0) return { path: pathAt(folder, word), isPattern: false };
  // Behind a pattern, `..` may lead anywhere.
  if (word.includes('..', at)) return { path: '/', isPattern: true };
  const names = word.lastIndexOf('/', at) + 1;
  // The names before the pattern are whole; what it begins with is the beginning of a name.
  const above = pathAt(folder, word.slice(0, names));
  return { path: `${withoutSlash(above)}/${word.slice(names, at)}`, isPattern: true };
}
