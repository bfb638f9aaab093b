/**
 * Patterns of GitHub's `CODEOWNERS`: those of ignore files, with the differences that GitHub documents.
 *
 * @see https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 * @see https://git-scm.com/docs/gitignore
 */
import type { Steps } from '../../../catalog/go/steps.ts';

interface CodeOwnersPattern {
  /** False for a form that GitHub does not document, or that implementations read in different ways. */
  readonly isSupported: boolean;
  /**
   * Whether the pattern matches a file's path. For a form that is not supported: whether it might. If `steps.left` is below 0
   * afterwards, the steps did not suffice, and the result means nothing.
   */
  readonly matches: (path: string, steps?: Steps) => boolean;
}

/** Parses a pattern as the file writes it. */
export function parsePattern(written: string): CodeOwnersPattern {
  // A backslash keeps a space from ending the pattern; other escapes are not supported.
  const text = written.replaceAll('\\ ', ' ');
  if (isUnsupported(text)) return { isSupported: false, matches: withinLiteralFolder(text) };
  const names = namesOf(text);
  return {
    isSupported: true,
    matches: (path, steps = { left: Number.POSITIVE_INFINITY }) =>
      matchesSequence(names, path.split('/'), steps),
  };
}

/** Escapes, classes, negation, `***`, `**` before another `**` or a last slash, and names that no path has. */
const UNSUPPORTED_FORMS = [
  /[\\[\]#]/,
  /^!/,
  /\*{3}/,
  /\*\*\/(?:\*\*(?:\/|$)|$)/,
  /^\/*$/,
  /\/\//,
  /(?:^|\/)\.{1,2}(?:\/|$)/,
];
/** White space other than the space, which other programs may take for the end of the pattern. */
const STRANGE_CHARACTERS = /[^\S ]|\p{Cc}|\p{Cf}/u;

/** Whether GitHub may read a pattern in another way than Portolan would. */
function isUnsupported(text: string): boolean {
  return STRANGE_CHARACTERS.test(text) || UNSUPPORTED_FORMS.some((form) => form.test(text));
}

/** Whether a path is in the folder that every reading of the pattern begins with; all are if it does not begin with one. */
function withinLiteralFolder(text: string): (path: string) => boolean {
  const literal = /^\/(?:[\w.-]+\/)*/.exec(text)?.[0].slice(1) ?? '';
  return (path) => path.startsWith(literal);
}

type Matcher<T> = (item: T, steps: Steps) => boolean;
/** `any` stands for any number of items, also none. */
type Sequence<T> = readonly ('any' | Matcher<T>)[];

const anyItem = (): boolean => true;

/** What the pattern demands of the names in a path. */
function namesOf(text: string): Sequence<string> {
  const isFolder = text.endsWith('/');
  const written = text.replace(/^\//, '').replace(/\/$/, '').split('/');
  const isAnchored = text.startsWith('/') || written.length > 1;
  // As in ignore files: a pattern without a slash, but for one at its end, matches at any depth.
  const names = written.map((name) => (name === '**' ? 'any' : nameMatcher(name)));
  const start: Sequence<string> = isAnchored ? [] : ['any'];
  // At least one name lies below a folder; `**` at the end means the same.
  if (isFolder) return [...start, ...names, anyItem, 'any'];
  if (written.at(-1) === '**') return [...start, ...names.slice(0, -1), anyItem, 'any'];
  // Unlike in ignore files, `/*` at the end does not include files in folders below.
  const isShallow = isAnchored && written.at(-1) === '*';
  return [...start, ...names, ...(isShallow ? [] : (['any'] as const))];
}

/** Matches one name of a path with one of the pattern. A character of two UTF-16 units counts as one for `?`. */
function nameMatcher(text: string): Matcher<string> {
  const characters = Array.from(text, (one): 'any' | Matcher<string> => {
    if (one === '*') return 'any';
    return one === '?' ? anyItem : (character) => character === one;
  });
  return (name, steps) =>
    matchesSequence(characters, /[\ud800-\udfff]/.test(name) ? Array.from(name) : name, steps);
}

/**
 * Whether items match a sequence of matchers, of which `any` takes any number of items. Only the last `any` is tried again with
 * one item more, as that is enough for such patterns: the number of steps is at most the product of both lengths.
 */
function matchesSequence<T>(sequence: Sequence<T>, items: ArrayLike<T>, steps: Steps): boolean {
  // `any` is the place of the last one, `next` the item from which the matchers behind it were tried last.
  let [at, any, next] = [0, -1, 0];
  for (let i = 0; i < items.length; ) {
    if (--steps.left < 0) return false;
    const matcher = sequence[at];
    if (matcher === 'any') [any, next] = [at++, i];
    else if (matcher?.(items[i] as T, steps)) [at, i] = [at + 1, i + 1];
    else if (any >= 0) [at, i] = [any + 1, ++next];
    else return false;
  }
  return sequence.slice(at).every((matcher) => matcher === 'any');
}
