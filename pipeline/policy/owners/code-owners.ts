/**
 * GitHub's `CODEOWNERS`. It decides only where the policy names it as a source of owners. Otherwise it is read to say where
 * it names others than those who may change a package, for GitHub asks those whom it names.
 *
 * @see https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */
import { type Steps, spendSteps } from '../../../catalog/go/steps.ts';
import { type Identity, parseIdentity } from '../identity.ts';

/** Where GitHub looks for it; the first that is there counts. */
export const CODE_OWNERS_FILES: readonly string[] = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'];

/** One line that names owners. */
export interface CodeOwnersLine {
  readonly line: number;
  readonly pattern: string;
  readonly owners: readonly Identity[];
  /** Whether an owner is named in a way that cannot be compared: a mail address. */
  readonly hasOthers: boolean;
  /**
   * False for a pattern or an owner in a form that Portolan does not know. Such a line has no owners, and takes what it may
   * match from the lines before it.
   */
  readonly isSupported: boolean;
  readonly matches: (path: string, steps?: Steps) => boolean;
}

/** The lines of a CODEOWNERS file that have a pattern. Lines that Portolan cannot read as GitHub does have no owners. */
export function readCodeOwners(text: string): CodeOwnersLine[] {
  return text.split('\n').flatMap((raw, i) => {
    // A comment begins at a blank or with the line. Words are split at blanks that no backslash escapes.
    const [pattern = '', ...ownerTexts] = withoutBlanks(raw.replace(/(?:^|[ \t])#.*/, '')).split(
      /(?<!\\)[ \t]+/,
    );
    if (pattern === '') return [];
    const { isSupported: isKnownPattern, matches } = parsePattern(pattern);
    const identities = ownerTexts.flatMap((one) => identityOf(one) ?? []);
    const others = ownerTexts.filter((one) => !identityOf(one));
    const isSupported = isKnownPattern && others.every((one) => MAIL_ADDRESS.test(one));
    const owners = isSupported ? identities : [];
    return [{ line: i + 1, pattern, owners, hasOthers: others.length > 0, isSupported, matches }];
  });
}

/** Without the blanks around it. A pattern for its end would look at blanks in between once for each of them. */
function withoutBlanks(text: string): string {
  let to = text.length;
  while (' \t\r'.includes(text[to - 1] ?? '-')) to--;
  return text.slice(0, to).replace(/^[ \t]+/, '');
}

/** GitHub skips a line with an owner that is neither an account, a team nor this. */
const MAIL_ADDRESS = /^[^@\s]+@[^@\s]+$/;

/** The account or team of `@LOGIN` or `@ORGANIZATION/TEAM`; undefined for anything else, such as a mail address. */
function identityOf(text: string): Identity | undefined {
  if (!text.startsWith('@')) return undefined;
  return parseIdentity(text.includes('/') ? text : text.slice(1));
}

/** What a line costs before its pattern is looked at, in steps. */
const STEPS_OF_LINE = 20;

/**
 * The lines that GitHub goes by for paths: for each the last that matches.
 *
 * @throws StepsError
 */
export function linesFor(
  lines: readonly CodeOwnersLine[],
  paths: readonly string[],
  steps: Steps,
): (CodeOwnersLine | undefined)[] {
  const found: (CodeOwnersLine | undefined)[] = [];
  for (const path of paths) {
    found.push(
      lines.findLast(({ matches }) => {
        steps.left -= STEPS_OF_LINE;
        return matches(path, steps);
      }),
    );
    // A match that runs out of steps counts as none: end here rather than go by a wrong line.
    spendSteps(steps, 0);
  }
  return found;
}

/**
 * Whether a line names accounts, none of them an owner. Always false for a line that matches every path, and for lines and
 * owners with a team or a mail address: the accounts behind these are unknown here.
 */
export function namesOthers(line: CodeOwnersLine, owners: readonly Identity[]): boolean {
  // `*`, `**`, `/*`, `/**` and `/`: such a line names who looks at everything, beside the owners.
  const matchesAll = /^\/?\*{0,2}$/.test(line.pattern);
  if (matchesAll || line.owners.length === 0 || owners.length === 0) return false;
  const hasTeam = [...line.owners, ...owners].some(({ kind }) => kind === 'team');
  if (line.hasOthers || hasTeam) return false;
  const ownerNames = new Set(owners.map(nameOf));
  return !line.owners.some((named) => ownerNames.has(nameOf(named)));
}

/** Equal for all spellings of a name, whatever its number: CODEOWNERS has no numbers. */
function nameOf(identity: Identity): string {
  return identity.kind === 'team' ? identity.team : identity.login.toLowerCase();
}

// Patterns of GitHub's `CODEOWNERS`: those of ignore files, with the differences that GitHub documents.
//
// @see https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
// @see https://git-scm.com/docs/gitignore

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
