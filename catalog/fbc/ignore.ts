/**
 * `.indexignore` files: which paths in a catalog's folder do not belong to the catalog.
 * A port of go-git's matcher as opm uses it, which is not git's: only files are
 * matched, so `!` re-includes a file below an ignored directory.
 *
 * @see https://github.com/go-git/go-git/tree/v5.16.0/plumbing/format/gitignore
 */
import { MOST_STEPS } from '../go/steps.ts';
import { goTrimmed } from '../go/text.ts';

export const IGNORE_FILE = '.indexignore';

/** Whether a path is that of an ignore file. */
export function isIgnoreFile(path: string): boolean {
  return path.split('/').at(-1) === IGNORE_FILE;
}

/** The fix for a file that is not called as blobs are, and that opm reads all the same; undefined for any other. */
export function ignoreHint(path: string): string | undefined {
  const name = path.split('/').at(-1) ?? '';
  return /\.(?:ya?ml|json)$/i.test(name) || name === ''
    ? undefined
    : `opm reads every file of the folder: add the line ${name} to ${IGNORE_FILE}, or name the folder of the package`;
}

/** The patterns of one file. */
interface Domain {
  /** Path segments of the directory that holds the file. */
  readonly folder: readonly string[];
  /** The last one first. */
  readonly patterns: readonly Pattern[];
}

interface Pattern {
  readonly segments: readonly Segment[];
  readonly includes: boolean;
  readonly directoriesOnly: boolean;
}

/** A name in code points: what a glob is matched against. */
type Name = readonly string[];
type Glob = (name: Name) => boolean;
/** Only globs among a pattern's segments match names; `**` matches folders, and an empty segment matches nothing. */
type Segment = Glob | '**' | '';

type IgnoreFile = readonly [path: string, text: string];

/**
 * Gives a function that tells ignored files, by `.indexignore` files as opm reads them.
 *
 * @param files path and text of every ignore file, in the order of walking the tree
 * @returns whether a file's path (forward slashes, relative to the root) is ignored
 */
export function ignoreMatcher(files: Iterable<IgnoreFile>): (path: string) => boolean {
  const domains = Array.from(files, ([path, text]): Domain => {
    const patterns = linesIn(text).flatMap(parsePattern);
    return { folder: path.split('/').slice(0, -1), patterns: patterns.reverse() };
  });
  // The last pattern that matches decides.
  domains.reverse();
  return (path) => {
    const segments = path.split('/');
    const names = segments.map((segment) => Array.from(segment));
    for (const { folder, patterns } of domains) {
      if (!isBelow(folder, segments)) continue;
      const below = names.slice(folder.length);
      const decisive = patterns.find((pattern) => matches(pattern, below));
      if (decisive) return !decisive.includes;
    }
    return false;
  };
}

/** A character of a pattern that meets one of a path takes a twentieth of a step. The largest known catalogs need a hundredth of all. */
const MOST_MEETINGS = 20 * MOST_STEPS;

/** Characters of all patterns at most: each stays in memory as a part of a pattern. Known catalogs have a few hundred. */
const MOST_CHARACTERS = 1024 * 1024;

/**
 * The ignore file with which there are more patterns than a catalog may ask for, or matching paths takes more steps: each
 * character of a pattern may meet each of a path. Undefined if they are within the limits.
 */
export function costlyFile(files: readonly IgnoreFile[], paths: readonly string[]): string | undefined {
  let [characters, meetings] = [0, 0];
  for (const [file, text] of files) {
    const folder = file.slice(0, file.lastIndexOf('/') + 1);
    const length = linesIn(text).reduce((sum, line) => sum + line.length + 1, 1);
    characters += length;
    if (characters > MOST_CHARACTERS) return file;
    for (const path of paths) {
      meetings += path.startsWith(folder) ? path.length * length : 1;
      if (meetings > MOST_MEETINGS) return file;
    }
  }
  return undefined;
}

/** The lines of a file that are patterns: not blank, and not a comment. */
function linesIn(text: string): string[] {
  return text
    .split('\n')
    .map(goTrimmed)
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** A pattern with a malformed part matches nothing, and is left out. */
function parsePattern(line: string): Pattern[] {
  const includes = line.startsWith('!');
  let text = includes ? line.slice(1) : line;
  const directoriesOnly = text.endsWith('/');
  if (directoriesOnly) text = text.slice(0, -1);
  const parts = text.split('/');
  const segments = parts.length > 1 ? parts.map(parseSegment) : [compileGlob(text)];
  const sound = segments.filter((segment) => segment !== undefined);
  return sound.length === segments.length ? [{ segments: sound, includes, directoriesOnly }] : [];
}

function parseSegment(text: string): Segment | undefined {
  if (text === '' || text === '**') return text;
  return text.includes('**') ? undefined : compileGlob(text);
}

function isBelow(folder: readonly string[], path: readonly string[]): boolean {
  return path.length > folder.length && folder.every((segment, i) => path[i] === segment);
}

/**
 * Whether a pattern of an ignore file matches a path.
 *
 * @param below the names of a path, from below the folder of the pattern's file
 */
function matches(pattern: Pattern, below: readonly Name[]): boolean {
  const [only] = pattern.segments;
  return pattern.segments.length === 1 && typeof only === 'function'
    ? matchesName(only, pattern, below)
    : matchesPath(pattern, below);
}

function matchesName(glob: Glob, { directoriesOnly }: Pattern, path: readonly Name[]): boolean {
  const at = path.findIndex(glob);
  return at >= 0 && !(directoriesOnly && at === path.length - 1);
}

/** Matches a pattern that holds a slash: from its own directory down. */
function matchesPath(pattern: Pattern, path: readonly Name[]): boolean {
  let rest = path;
  let matched = false;
  let anyDepth = false;
  for (const segment of pattern.segments) {
    // As in go-git, an empty part also ends the effect of `**`.
    if (segment === '') {
      anyDepth = false;
      continue;
    }
    if (segment === '**') {
      anyDepth = true;
      continue;
    }
    const [first] = rest;
    if (!first) return false;
    const at = anyDepth ? rest.findIndex(segment) : segment(first) ? 0 : -1;
    anyDepth = false;
    matched = at >= 0;
    if (!matched) return false;
    rest = rest.slice(at + 1);
  }
  if (matched && pattern.directoriesOnly && rest.length === 0) return false;
  return matched;
}

type CharacterTest = (character: string) => boolean;

/** Go's `filepath.Match` for one path segment; undefined for a malformed pattern. */
function compileGlob(pattern: string): Glob | undefined {
  const elements: ('*' | CharacterTest)[] = [];
  const characters = Array.from(pattern);
  for (let i = 0; i < characters.length; i++) {
    const c = characters[i];
    if (c === '*') elements.push('*');
    else if (c === '?') elements.push(() => true);
    else if (c === '[') {
      const set = characterSet(characters, i);
      if (!set) return undefined;
      elements.push(set.holds);
      i = set.end;
    } else {
      const literal = c === '\\' ? characters[++i] : c;
      if (literal === undefined) return undefined;
      elements.push((character) => character === literal);
    }
  }
  return (name) => matchesElements(elements, name);
}

/**
 * Whether the elements of a glob match a name. If that fails behind a star, only the last star is tried with more
 * characters: no earlier one could help.
 */
function matchesElements(elements: readonly ('*' | CharacterTest)[], name: Name): boolean {
  let e = 0;
  let star = -1;
  let behindStar = 0;
  for (let n = 0; n < name.length; ) {
    const element = elements[e];
    if (element === '*') {
      star = e++;
      behindStar = n;
    } else if (element?.(name[n] ?? '')) {
      e++;
      n++;
    } else if (star >= 0) {
      e = star + 1;
      n = ++behindStar;
    } else return false;
  }
  while (elements[e] === '*') e++;
  return e === elements.length;
}

/** Reads a set of characters in brackets. @param open index of the bracket */
function characterSet(
  pattern: Name,
  open: number,
): { readonly holds: CharacterTest; readonly end: number } | undefined {
  let i = open + 1;
  const negated = pattern[i] === '^';
  if (negated) i++;
  const ranges: (readonly [low: number, high: number])[] = [];
  while (pattern[i] !== ']' || ranges.length === 0) {
    const low = setCharacter(pattern, i);
    if (!low) return undefined;
    const high = pattern[low.end] === '-' ? setCharacter(pattern, low.end + 1) : low;
    if (!high) return undefined;
    ranges.push([low.code, high.code]);
    i = high.end;
  }
  const holds: CharacterTest = (character) => {
    const code = character.codePointAt(0) ?? 0;
    return ranges.some(([low, high]) => low <= code && code <= high) !== negated;
  };
  return { holds, end: i };
}

/**
 * A character of a set and where it ends, behind a backslash or not.
 *
 * @returns undefined for the dash and the bracket, which mean something else there, and at the end
 */
function setCharacter(
  pattern: Name,
  at: number,
): { readonly code: number; readonly end: number } | undefined {
  const i = pattern[at] === '\\' ? at + 1 : at;
  if (i === at && (pattern[i] === '-' || pattern[i] === ']')) return undefined;
  const code = pattern[i]?.codePointAt(0);
  return code === undefined ? undefined : { code, end: i + 1 };
}
