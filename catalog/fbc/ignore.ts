/**
 * `.indexignore` files: which paths in a catalog's folder do not belong to the catalog.
 * A port of go-git's matcher as opm uses it, which is not git's: only files are
 * matched, so `!` re-includes a file below an ignored directory.
 *
 * @see https://github.com/go-git/go-git/tree/v5.16.0/plumbing/format/gitignore
 */
import { goTrimmed } from '../go/text.ts';

export const IGNORE_FILE = '.indexignore';

/** The fix for a file that is not called as blobs are, and that opm reads all the same; undefined for any other. */
export function ignoreHint(path: string): string | undefined {
  const name = path.split('/').at(-1) ?? '';
  return /\.(?:ya?ml|json)$/i.test(name) || name === ''
    ? undefined
    : `opm reads every file of the folder: add the line ${name} to ${IGNORE_FILE}, or name the folder of the package`;
}

interface Pattern {
  /** Path segments of the directory whose file holds the pattern. */
  readonly domain: readonly string[];
  readonly segments: readonly Segment[];
  readonly includes: boolean;
  readonly directoriesOnly: boolean;
}

/** A name in code points: what a glob is matched against. */
type Name = readonly string[];
type Glob = (name: Name) => boolean;
/** Only globs among a pattern's segments match names; `**` matches folders, and an empty segment matches nothing. */
type Segment = Glob | '**' | '';

/**
 * @param files path and text of every ignore file, in the order of walking the tree
 * @returns whether a file's path (forward slashes, relative to the root) is ignored
 */
export function ignoreMatcher(
  files: Iterable<readonly [path: string, text: string]>,
): (path: string) => boolean {
  const patterns: Pattern[] = [];
  for (const [path, text] of files) {
    const domain = path.split('/').slice(0, -1);
    for (const raw of text.split('\n')) {
      const line = goTrimmed(raw);
      if (line !== '' && !line.startsWith('#')) patterns.push(...parsePattern(line, domain));
    }
  }
  // The last pattern that matches decides.
  patterns.reverse();
  return (path) => {
    const segments = path.split('/');
    const names = segments.map((segment) => Array.from(segment));
    const decisive = patterns.find((pattern) => isBelow(pattern, segments) && matches(pattern, names));
    return decisive !== undefined && !decisive.includes;
  };
}

/** A pattern with a malformed part matches nothing, and is left out. */
function parsePattern(line: string, domain: readonly string[]): Pattern[] {
  const includes = line.startsWith('!');
  let text = includes ? line.slice(1) : line;
  const directoriesOnly = text.endsWith('/');
  if (directoriesOnly) text = text.slice(0, -1);
  const parts = text.split('/');
  const segments = parts.length > 1 ? parts.map(parseSegment) : [compileGlob(text)];
  const sound = segments.filter((segment) => segment !== undefined);
  return sound.length === segments.length ? [{ domain, segments: sound, includes, directoriesOnly }] : [];
}

function parseSegment(text: string): Segment | undefined {
  if (text === '' || text === '**') return text;
  return text.includes('**') ? undefined : compileGlob(text);
}

function isBelow({ domain }: Pattern, path: readonly string[]): boolean {
  return path.length > domain.length && domain.every((segment, i) => path[i] === segment);
}

function matches(pattern: Pattern, path: readonly Name[]): boolean {
  const below = path.slice(pattern.domain.length);
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
  for (const [i, segment] of pattern.segments.entries()) {
    if (segment === '') {
      anyDepth = false;
      continue;
    }
    if (segment === '**') {
      if (i === pattern.segments.length - 1) break;
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

/** Only the last star passed is tried again with more: none before it could make up for what fails behind it. */
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

/** @param open index of the bracket */
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

function setCharacter(
  pattern: Name,
  at: number,
): { readonly code: number; readonly end: number } | undefined {
  const i = pattern[at] === '\\' ? at + 1 : at;
  if (i === at && (pattern[i] === '-' || pattern[i] === ']')) return undefined;
  const code = pattern[i]?.codePointAt(0);
  return code === undefined ? undefined : { code, end: i + 1 };
}
