/**
 * GitHub's `CODEOWNERS`. It decides only where the policy names it as a source of owners. Otherwise it is read to say where
 * it names others than those who may change a package, for GitHub asks those whom it names.
 *
 * @see https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */
import { ignoreMatcher } from '../../../catalog/fbc/ignore.ts';
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
  readonly matches: (path: string) => boolean;
}

/** Reads the file; lines that GitHub refuses (`!`, `[`) are left out. */
export function readCodeOwners(text: string): CodeOwnersLine[] {
  return text.split('\n').flatMap((raw, i) => {
    const [pattern = '', ...named] = raw
      .replace(/(?:^|\s)#.*/, '')
      .trim()
      .split(/(?<!\\)\s+/);
    if (pattern === '' || /^!|\[/.test(pattern)) return [];
    const owners = named.flatMap((one) => identityOf(one) ?? []);
    const hasOthers = owners.length < named.length;
    return [{ line: i + 1, pattern, owners, hasOthers, matches: matcherOf(pattern) }];
  });
}

function identityOf(text: string): Identity | undefined {
  if (!text.startsWith('@')) return undefined;
  return parseIdentity(text.includes('/') ? text : text.slice(1));
}

function matcherOf(pattern: string): (path: string) => boolean {
  const matches = ignoreMatcher([['CODEOWNERS', pattern.replaceAll('\\ ', ' ')]]);
  if (!pattern.endsWith('/*')) return matches;
  // Unlike in ignore files, what lies deeper is not meant.
  const depth = pattern.replace(/^\//, '').split('/').length;
  return (path) => matches(path) && path.split('/').length === depth;
}

/** The line that GitHub goes by for a path: the last that matches; undefined when none does. */
export function lineFor(lines: readonly CodeOwnersLine[], path: string): CodeOwnersLine | undefined {
  return lines.findLast(({ matches }) => matches(path));
}

/** Whether a line names people, but none of the owners; a line for everything, or with what cannot be compared, does not count. */
export function namesOthers(line: CodeOwnersLine, owners: readonly Identity[]): boolean {
  const names = new Set(owners.map(nameOf));
  const isForAll = /^\/?\*{0,2}$/.test(line.pattern);
  // Who is in a team is not known here.
  const isUnknown = line.hasOthers || [...line.owners, ...owners].some(({ kind }) => kind === 'team');
  if (isForAll || line.owners.length === 0 || owners.length === 0) return false;
  return !isUnknown && !line.owners.some((one) => names.has(nameOf(one)));
}

function nameOf(identity: Identity): string {
  return identity.kind === 'team' ? identity.team : identity.login.toLowerCase();
}
