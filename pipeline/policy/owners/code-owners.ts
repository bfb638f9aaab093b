/**
 * GitHub's `CODEOWNERS`. It decides only where the policy names it as a source of owners. Otherwise it is read to say where
 * it names others than those who may change a package, for GitHub asks those whom it names.
 *
 * @see https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */
import { type Steps, spendSteps } from '../../../catalog/go/steps.ts';
import { type Identity, parseIdentity } from '../identity.ts';
import { parsePattern } from './code-owners-pattern.ts';

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
