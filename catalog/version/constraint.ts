/**
 * Version constraints as OLM v1 reads them in a ClusterExtension's version: a port of
 * Masterminds/semver v3.5, whose syntax and answers differ from blang's ranges. What
 * differs most: `^`, `~` and partial versions are known, and pre-releases are left out
 * unless the constraint names one.
 *
 * @see https://github.com/Masterminds/semver/tree/v3.5.0
 */
import { compareVersions, tryParseVersion, type Version, VersionError } from './version.ts';

/** Versions that satisfy all terms of any one alternative. */
export interface VersionConstraint {
  readonly text: string;
  readonly alternatives: readonly Alternative[];
}

interface Alternative {
  readonly terms: readonly Term[];
  /** Whether pre-releases count: true when any term has one. */
  readonly prereleases: boolean;
}

interface Term {
  readonly operator: TermOperator;
  readonly version: Version;
  /** Which part was the first to be left out or to be `x` or `*`. */
  readonly open: 'major' | 'minor' | 'patch' | undefined;
}

type TermOperator = '=' | '!=' | '>' | '<' | '>=' | '<=' | '~' | '^';

/** Longest constraint that the library reads, in bytes; a ClusterExtension allows 64. */
const MAX_LENGTH = 512;
const MAX_ALTERNATIVES = 32;

/**
 * Reads a constraint as `semver.NewConstraint` does.
 *
 * @throws VersionError
 */
export function parseVersionConstraint(text: string): VersionConstraint {
  if (text.length > MAX_LENGTH) {
    throw new VersionError(`constraint string is too long (max ${MAX_LENGTH} bytes)`);
  }
  const groups = rewriteHyphens(text).split('||');
  if (groups.length > MAX_ALTERNATIVES) {
    throw new VersionError(`too many constraint groups (max ${MAX_ALTERNATIVES})`);
  }
  return { text, alternatives: groups.map(parseAlternative) };
}

/** Whether a version meets a constraint; build metadata is ignored. */
export function meets(version: Version, constraint: VersionConstraint): boolean {
  return constraint.alternatives.some(
    ({ terms, prereleases }) =>
      (prereleases || version.prerelease.length === 0) && terms.every((term) => meetsTerm(version, term)),
  );
}

// The bar in the class of characters is a slip of the library; what it lets through is refused later.
const PART = '[0-9xX*|]+';
const IDENTIFIERS = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*';
const VERSION = `v?${PART}(?:\\.${PART})?(?:\\.${PART})?(?:-${IDENTIFIERS})?(?:\\+${IDENTIFIERS})?`;
// Go's idea of white space is narrower than JavaScript's.
const SPACE = '[\\t\\n\\f\\r ]';

const HYPHEN_RANGE = new RegExp(`${SPACE}*(${VERSION})${SPACE}+-${SPACE}+(${VERSION})${SPACE}*`, 'g');
const TERM = new RegExp(`(!=|>=|=>|<=|=<|~>|[=><~^]|)${SPACE}*(${VERSION})${SPACE}*`, 'y');
const SEPARATOR = new RegExp(`,${SPACE}*`, 'y');
const BLANK = new RegExp(`${SPACE}*`, 'y');
const PARTS = new RegExp(
  `^(v?(${PART}))(?:\\.(${PART}))?(?:\\.(${PART}))?(?:-(${IDENTIFIERS}))?(?:\\+(${IDENTIFIERS}))?$`,
);

/** `1.0 - 2.0` becomes `>= 1.0, <= 2.0`. */
function rewriteHyphens(text: string): string {
  return text.replaceAll(HYPHEN_RANGE, (_, from: string, to: string) => `>= ${from}, <= ${to} `);
}

/** Reads the terms between two `||`, one after the other, so that no text makes it slow. */
function parseAlternative(text: string): Alternative {
  const improper = (): VersionError => new VersionError(`improper constraint: ${JSON.stringify(text)}`);
  const found: [operator: string, version: string][] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at += match[0].length;
    return match;
  };
  take(BLANK);
  while (at < text.length || found.length === 0) {
    // Terms are separated by a comma, or by blanks, which the term before has taken.
    const separated = found.length === 0 || /[\t\n\f\r ]$/.test(text.slice(0, at));
    if (found.length > 0 && !take(SEPARATOR) && !separated) throw improper();
    const match = take(TERM);
    if (!match) throw improper();
    found.push([match[1] ?? '', match[2] ?? '']);
  }
  const terms = found.map(([operator, version]) => parseTerm(operator, version));
  return { terms, prereleases: terms.some(({ version }) => version.prerelease.length > 0) };
}

const OPERATORS: ReadonlyMap<string, TermOperator> = new Map([
  ['', '='],
  ['=', '='],
  ['!=', '!='],
  ['>', '>'],
  ['<', '<'],
  ['>=', '>='],
  ['=>', '>='],
  ['<=', '<='],
  ['=<', '<='],
  ['~', '~'],
  ['~>', '~'],
  ['^', '^'],
]);

/**
 * A comparison from its operator and version. A part that is left out, or is `x` or `*`, leaves the version open from
 * there on.
 */
function parseTerm(operatorText: string, versionText: string): Term {
  const [, , major = '', minor, patch, prerelease] = PARTS.exec(versionText) ?? [];
  const operator = OPERATORS.get(operatorText) ?? '=';
  const termOf = (a: string, b: string, c: string, open: Term['open']): Term => ({
    operator,
    version: looseVersion([a, b, c], prerelease),
    open,
  });
  if (isOpen(major)) return termOf('0', '0', '0', 'major');
  if (minor === undefined || isOpen(minor)) return termOf(major, '0', '0', 'minor');
  if (patch === undefined || isOpen(patch)) return termOf(major, minor, '0', 'patch');
  return termOf(major, minor, patch, undefined);
}

function isOpen(part: string): boolean {
  return part === 'x' || part === 'X' || part === '*';
}

/** Leading zeros are allowed in numbers, not in identifiers of the pre-release. */
function looseVersion(numbers: readonly [string, string, string], prerelease: string | undefined): Version {
  const release = numbers.map((part) => part.replace(/^0+(?=[0-9])/, '')).join('.');
  const version = tryParseVersion(prerelease === undefined ? release : `${release}-${prerelease}`);
  if (!version) throw new VersionError('constraint parser error');
  return version;
}

/** Whether a version meets one comparison. */
function meetsTerm(version: Version, term: Term): boolean {
  switch (term.operator) {
    case '=':
      return term.open === undefined
        ? compareVersions(version, term.version) === 0
        : meetsTilde(version, term);
    case '!=':
      return meetsNotEqual(version, term);
    case '>':
      return meetsGreater(version, term);
    // A part left open is 0 in the bound: that is right for `<1.x` and `>=1.x`.
    case '<':
      return compareVersions(version, term.version) < 0;
    case '>=':
      return compareVersions(version, term.version) >= 0;
    case '<=':
      return meetsAtMost(version, term);
    case '~':
      return meetsTilde(version, term);
    case '^':
      return meetsCaret(version, term);
  }
}

/**
 * Whether a version is not the one of the term, nor one that its open parts stand for. The questions come in the
 * library's order.
 */
function meetsNotEqual(version: Version, { version: bound, open }: Term): boolean {
  if (open === undefined) return compareVersions(version, bound) !== 0;
  if (version.major !== bound.major) return true;
  if (version.minor !== bound.minor && open !== 'minor') return true;
  if (open === 'minor') return false;
  if (version.patch !== bound.patch && open !== 'patch') return true;
  // With an open patch only the pre-releases are compared; an open major is compared as 0.0.0.
  if (open === 'patch') return comparePrereleaseOnly(version, bound) !== 0;
  return compareVersions(version, bound) !== 0;
}

/**
 * Compares pre-releases by themselves. The library then takes none at all for the lowest; of whole versions, the one
 * without a pre-release is the highest.
 */
function comparePrereleaseOnly(a: Version, b: Version): number {
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return Math.sign(a.prerelease.length - b.prerelease.length);
  }
  return compareVersions({ ...b, prerelease: a.prerelease }, b);
}

/**
 * Whether a version is higher than all that the term stands for: with an open minor version `>1.x` starts at 2.0.0,
 * with an open patch `>1.2.x` at 1.3.0.
 */
function meetsGreater(version: Version, { version: bound, open }: Term): boolean {
  if (open === undefined || version.major !== bound.major) return compareVersions(version, bound) > 0;
  if (open === 'minor') return false;
  if (open === 'patch') return version.minor > bound.minor;
  return compareVersions(version, bound) > 0;
}

/**
 * Whether a version is not higher than all that the term stands for: `<=1.x` includes every 1, and `<=1.2.x` every 1.2.
 */
function meetsAtMost(version: Version, { version: bound, open }: Term): boolean {
  if (open === undefined) return compareVersions(version, bound) <= 0;
  if (version.major !== bound.major) return version.major < bound.major;
  return open === 'minor' || version.minor <= bound.minor;
}

/**
 * Whether a version is in the minor version of the term, or in its major version where the minor one is open, and not
 * lower. This is also what `=` means when a part is open.
 */
function meetsTilde(version: Version, { version: bound, open }: Term): boolean {
  if (compareVersions(version, bound) < 0) return false;
  const zero = bound.major === 0 && bound.minor === 0 && bound.patch === 0;
  // ~0.0.0 accepts everything, as `*` does: a slip that clusters have.
  if (zero && open !== 'minor' && open !== 'patch') return true;
  return version.major === bound.major && (version.minor === bound.minor || open === 'minor');
}

/**
 * Whether a version is not lower, and the first part that is not 0 is the same: 1 in `^1.2.3`, 2 in `^0.2.3`, 3 in
 * `^0.0.3`. An open part may be any.
 */
function meetsCaret(version: Version, { version: bound, open }: Term): boolean {
  if (compareVersions(version, bound) < 0) return false;
  if (bound.major > 0 || open === 'minor') return version.major === bound.major;
  if (version.major > 0) return false;
  if (bound.minor > 0 || open === 'patch') return version.minor === bound.minor;
  return version.minor === 0 && version.patch === bound.patch;
}
