/**
 * `.indexignore` files: which paths of a catalog's tree are no part of the catalog.
 * A port of go-git's matcher as opm uses it, which is not git's: only files are
 * matched, so `!` re-includes a file below an ignored directory.
 *
 * @see https://github.com/go-git/go-git/tree/v5.16.0/plumbing/format/gitignore
 */
import { goTrimmed } from './go-text.ts';

export const IGNORE_FILE = '.indexignore';

interface Pattern {
  /** Path segments of the directory whose file holds the pattern. */
  readonly domain: readonly string[];
  readonly segments: readonly string[];
  readonly includes: boolean;
  readonly directoriesOnly: boolean;
}

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
      if (line !== '' && !line.startsWith('#')) patterns.push(parsePattern(line, domain));
    }
  }
  // The last pattern that matches decides.
  patterns.reverse();
  return (path) => {
    const segments = path.split('/');
    const decisive = patterns.find((pattern) => matches(pattern, segments));
    return decisive !== undefined && !decisive.includes;
  };
}

function parsePattern(line: string, domain: readonly string[]): Pattern {
  const includes = line.startsWith('!');
  let text = includes ? line.slice(1) : line;
  const directoriesOnly = text.endsWith('/');
  if (directoriesOnly) text = text.slice(0, -1);
  return { domain, segments: text.split('/'), includes, directoriesOnly };
}

function matches(pattern: Pattern, path: readonly string[]): boolean {
  if (path.length <= pattern.domain.length) return false;
  if (pattern.domain.some((segment, i) => path[i] !== segment)) return false;
  const below = path.slice(pattern.domain.length);
  return pattern.segments.length > 1 ? matchesPath(pattern, below) : matchesName(pattern, below);
}

function matchesName(pattern: Pattern, path: readonly string[]): boolean {
  const [name = ''] = pattern.segments;
  const glob = compileGlob(name);
  if (glob === undefined) return false;
  const at = path.findIndex((segment) => glob(segment));
  if (at < 0) return false;
  return !(pattern.directoriesOnly && at === path.length - 1);
}

/** Matches a pattern that holds a slash: from its own directory down. */
function matchesPath(pattern: Pattern, path: readonly string[]): boolean {
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
    const glob = segment.includes('**') ? undefined : compileGlob(segment);
    if (glob === undefined || rest.length === 0) return false;
    const at = anyDepth ? rest.findIndex(glob) : glob(rest[0] ?? '') ? 0 : -1;
    anyDepth = false;
    matched = at >= 0;
    if (!matched) return false;
    rest = rest.slice(at + 1);
  }
  if (matched && pattern.directoriesOnly && rest.length === 0) return false;
  return matched;
}

/** Go's `filepath.Match` for one path segment; undefined for a malformed pattern, which matches nothing. */
function compileGlob(pattern: string): ((name: string) => boolean) | undefined {
  let source = '';
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern.charAt(i);
    if (c === '*') source += '[^/]*';
    else if (c === '?') source += '[^/]';
    else if (c === '[') {
      const set = characterSet(pattern, i);
      if (!set) return undefined;
      source += set.source;
      i = set.end;
    } else if (c === '\\') {
      if (++i >= pattern.length) return undefined;
      source += escapeCharacter(pattern.charAt(i));
    } else source += escapeCharacter(c);
  }
  const expression = new RegExp(`^${source}$`, 'su');
  return (name) => expression.test(name);
}

function characterSet(pattern: string, open: number): { source: string; end: number } | undefined {
  let i = open + 1;
  const negated = pattern.charAt(i) === '^';
  if (negated) i++;
  let source = '';
  let ranges = 0;
  for (; ; ranges++) {
    if (pattern.charAt(i) === ']' && ranges > 0) break;
    const low = setCharacter(pattern, i);
    if (!low) return undefined;
    i = low.end;
    let high = low;
    if (pattern.charAt(i) === '-') {
      const upper = setCharacter(pattern, i + 1);
      if (!upper) return undefined;
      high = upper;
      i = upper.end;
    }
    // An empty range matches nothing, and JavaScript refuses to write it.
    if (low.character <= high.character) source += `${inSet(low.character)}-${inSet(high.character)}`;
  }
  const set = source === '' ? (negated ? '[^/]' : '[]') : `[${negated ? '^' : ''}${source}]`;
  return { source: set, end: i };
}

function setCharacter(pattern: string, at: number): { character: string; end: number } | undefined {
  let i = at;
  if (pattern.charAt(i) === '\\') i++;
  else if (pattern.charAt(i) === '-' || pattern.charAt(i) === ']') return undefined;
  const code = pattern.codePointAt(i);
  if (code === undefined) return undefined;
  const character = String.fromCodePoint(code);
  return { character, end: i + character.length };
}

function escapeCharacter(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');
}

/** As {@link escapeCharacter}, for use between brackets, where a dash has a meaning too. */
function inSet(character: string): string {
  return character === '-' ? '\\-' : escapeCharacter(character);
}
