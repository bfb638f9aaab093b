/** The files that a build of an image does not get, by the `.dockerignore` of its context. */
import { MOST_STEPS } from '../go/steps.ts';
import { ignoreMatcher } from './ignore.ts';

export const CONTEXT_IGNORE = '.dockerignore';

type Matcher = (path: string) => boolean;

const NONE: Matcher = () => false;

/** A character of an ignore file that meets one of a path takes a twentieth of a step. */
const MOST_COMPARISONS = 20 * MOST_STEPS;

/**
 * Makes a reader of ignore files. It turns the text of an ignore file into a matcher of the paths that a build does not get,
 * or undefined once all texts together take too many comparisons. Patterns that are not supported leave nothing out.
 *
 * @param paths of the files that may be asked for
 * @see https://github.com/moby/patternmatcher
 */
export function contextMatcher(paths: Iterable<string>): (text: string | undefined) => Matcher | undefined {
  const characters = Array.from(paths).reduce((sum, path) => sum + path.length + 1, 0);
  const matchers = new Map<string, Matcher | undefined>();
  let comparisonsLeft = MOST_COMPARISONS;
  return (text) => {
    if (text === undefined) return NONE;
    if (!matchers.has(text)) {
      comparisonsLeft -= characters * text.length;
      matchers.set(text, comparisonsLeft < 0 ? undefined : cachedMatcher(matcherOf(text)));
    }
    return matchers.get(text);
  };
}

/** The matcher of an ignore file as docker reads it, with its patterns rewritten as patterns of opm's ignore files. */
function matcherOf(text: string): Matcher {
  const lines = text.replace(/^\ufeff/, '').split('\n');
  const patterns = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
  // A pattern is of a path from the top, and of all that is below it.
  const plain = patterns.flatMap((line) => {
    const isException = line.startsWith('!');
    const path = cleanedPattern(isException ? line.slice(1).trim() : line);
    return path === undefined ? [] : [`${isException ? '!' : ''}/${path}`];
  });
  // Not supported is `**` beside other characters.
  const isSupported = plain.every((line) => !/[^/]\*\*|\*\*[^/]/.test(line));
  return isSupported ? ignoreMatcher([[CONTEXT_IGNORE, plain.join('\n')]]) : NONE;
}

/**
 * A pattern without what changes nothing, as Go's `filepath.Clean` makes it: `.`, empty parts, and a part before `..`; also
 * without `**` at its end. Of `**` alone, `*` is left. Undefined where it leads to no path below the top.
 */
function cleanedPattern(pattern: string): string | undefined {
  const parts: string[] = [];
  for (const part of pattern.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    // Above the top there is nothing, unless the pattern begins there.
    else if (parts.pop() === undefined && !pattern.startsWith('/')) return undefined;
  }
  while (parts.length > 1 && parts.at(-1) === '**') parts.pop();
  if (parts.length === 1 && parts[0] === '**') return '*';
  return parts.length === 0 ? undefined : parts.join('/');
}

/** A matcher that looks at each path only once. */
function cachedMatcher(matcher: Matcher): Matcher {
  const answers = new Map<string, boolean>();
  return (path) => {
    const found = answers.get(path) ?? matcher(path);
    answers.set(path, found);
    return found;
  };
}
