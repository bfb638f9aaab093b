/**
 * Versions and ranges as OLM reads them, which decides what clusters do. npm's semver reads and compares versions
 * where it agrees with blang/semver v4, the library of OLM. The rest is a port of blang: the texts of its errors,
 * numbers beyond 2^53, tolerant parsing and ranges (npm's semver gives other answers for 78 of 109 recorded ranges).
 *
 * @see https://github.com/blang/semver/tree/v4.0.0
 */
import SemVer from 'semver/classes/semver.js';
import { compareText, goQuoted, goTrimmed, ownText } from '../go/text.ts';

/** A non-negative integer up to 2^64-1; bigint above 2^53. */
type Uint64 = number | bigint;

export interface Version {
  readonly major: Uint64;
  readonly minor: Uint64;
  readonly patch: Uint64;
  /** Identifiers of the pre-release; numeric ones as numbers. */
  readonly prerelease: readonly (Uint64 | string)[];
  /** Identifiers of the build metadata; they take no part in comparisons. */
  readonly build: readonly string[];
}

/** Why a text is not a version or range, in blang's words. */
export class VersionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'VersionError';
  }
}

const MAX_UINT64 = 2n ** 64n - 1n;
const DIGITS = /^[0-9]*$/;
const ALPHANUMERIC = /^[0-9A-Za-z-]*$/;

/**
 * Texts that semver reads exactly as blang does, if it reads them: at most 256 characters, no leading `v`, no white
 * space around, no number that a double cannot hold.
 */
const READ_ALIKE = /^(?=.{5,256}$)(?!.*[0-9]{16})[0-9]+\.[0-9]+\.[0-9][0-9A-Za-z.+-]*$/;

/** What all versions begin with. */
const LIKE_VERSION = /^[0-9]+\.[0-9]+\.[0-9]/;

/** Parses a semantic version as blang does. @throws VersionError */
export function parseVersion(text: string): Version {
  if (!READ_ALIKE.test(text)) return parseBlang(text);
  try {
    return new SemVer(text);
  } catch {
    return parseBlang(text);
  }
}

/**
 * Reads what semver refuses or would round.
 *
 * @throws VersionError in blang's words
 */
function parseBlang(text: string): Version {
  if (text === '') throw new VersionError('Version string empty');
  const [major, minor, rest] = splitThree(text);
  const buildAt = rest.indexOf('+');
  const beforeBuild = buildAt < 0 ? rest : rest.slice(0, buildAt);
  const prereleaseAt = beforeBuild.indexOf('-');
  const patch = prereleaseAt < 0 ? beforeBuild : beforeBuild.slice(0, prereleaseAt);
  return {
    major: parseNumber('Major', major),
    minor: parseNumber('Minor', minor),
    patch: parseNumber('Patch', patch),
    prerelease:
      prereleaseAt < 0
        ? []
        : beforeBuild
            .slice(prereleaseAt + 1)
            .split('.')
            .map(parsePrerelease),
    build:
      buildAt < 0
        ? []
        : rest
            .slice(buildAt + 1)
            .split('.')
            .map(parseBuild),
  };
}

/** The version, or undefined when the text is none. */
export function tryParseVersion(text: string): Version | undefined {
  // Many names are asked about, and an error costs a hundred times as much.
  if (!LIKE_VERSION.test(text)) return undefined;
  try {
    return parseVersion(text);
  } catch (error) {
    if (error instanceof VersionError) return undefined;
    throw error;
  }
}

/**
 * Reads what people write for versions: white space around, a leading `v`, leading zeros
 * and missing parts are forgiven.
 *
 * @throws VersionError
 */
export function parseTolerant(text: string): Version {
  const [major = '', minor, ...rest] = goTrimmed(text).replace(/^v/, '').split('.');
  if (minor === undefined || rest.length === 0) {
    if (/[+-]/.test(minor ?? major)) {
      throw new VersionError('Short version cannot contain PreRelease/Build meta data');
    }
  }
  const patch = rest.length > 0 ? rest.join('.') : '0';
  return parseVersion([major, minor ?? '0', patch].map(withoutLeadingZeros).join('.'));
}

/** A part of a version without zeros before its number; a number that is 0 keeps one. */
function withoutLeadingZeros(part: string): string {
  if (part.length < 2) return part;
  const bare = part.replace(/^0+/, '');
  return /^[0-9]/.test(bare) ? bare : `0${bare}`;
}

/**
 * The parts around the first two dots; the last one has all that follows.
 *
 * @throws VersionError
 */
function splitThree(text: string): [string, string, string] {
  const first = text.indexOf('.');
  const second = first < 0 ? -1 : text.indexOf('.', first + 1);
  if (second < 0) throw new VersionError('No Major.Minor.Patch elements found');
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)];
}

/**
 * Reads one of the three numbers of a version.
 *
 * @throws VersionError in blang's words
 */
function parseNumber(part: 'Major' | 'Minor' | 'Patch', text: string): Uint64 {
  if (!DIGITS.test(text)) {
    throw new VersionError(`Invalid character(s) found in ${part.toLowerCase()} number ${goQuoted(text)}`);
  }
  if (text.length > 1 && text.startsWith('0')) {
    throw new VersionError(`${part} number must not contain leading zeroes ${goQuoted(text)}`);
  }
  return parseUint(text);
}

/**
 * Reads a number of decimal digits.
 *
 * @throws VersionError where it does not fit into 64 bits
 */
function parseUint(text: string): Uint64 {
  if (text === '') throw new VersionError('strconv.ParseUint: parsing "": invalid syntax');
  if (text.length <= 15) return Number(text);
  const value = BigInt(text);
  if (value > MAX_UINT64)
    throw new VersionError(`strconv.ParseUint: parsing ${goQuoted(text)}: value out of range`);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

/**
 * Reads an identifier of a pre-release: one of digits alone is a number.
 *
 * @throws VersionError in blang's words
 */
function parsePrerelease(text: string): Uint64 | string {
  if (text === '') throw new VersionError('Prerelease is empty');
  if (DIGITS.test(text)) {
    if (text.length > 1 && text.startsWith('0')) {
      throw new VersionError(`Numeric PreRelease version must not contain leading zeroes ${goQuoted(text)}`);
    }
    return parseUint(text);
  }
  if (!ALPHANUMERIC.test(text))
    throw new VersionError(`Invalid character(s) found in prerelease ${goQuoted(text)}`);
  return text;
}

/** Reads an identifier of the build metadata, which stays text. @throws VersionError in blang's words */
function parseBuild(text: string): string {
  if (text === '') throw new VersionError('Build meta data is empty');
  if (!ALPHANUMERIC.test(text))
    throw new VersionError(`Invalid character(s) found in build meta data ${goQuoted(text)}`);
  return text;
}

/** The text of a version, with its build metadata. */
export function formatVersion(version: Version): string {
  let text = `${version.major}.${version.minor}.${version.patch}`;
  if (version.prerelease.length > 0) text += `-${version.prerelease.join('.')}`;
  if (version.build.length > 0) text += `+${version.build.join('.')}`;
  return text;
}

/** Whether two versions have the same text, with their build metadata. */
export function isSameVersion(a: Version | undefined, b: Version | undefined): boolean {
  if (a === b || !a || !b) return a === b;
  return compareVersions(a, b) === 0 && a.build.join('.') === b.build.join('.');
}

/** -1, 0 or 1; build metadata is ignored, as everywhere in OLM v0. */
export function compareVersions(a: Version, b: Version): number {
  if (a instanceof SemVer && b instanceof SemVer) return a.compare(b);
  // Numbers beyond 2^53, and versions that a caller put together.
  return (
    compareNumbers(a.major, b.major) ||
    compareNumbers(a.minor, b.minor) ||
    compareNumbers(a.patch, b.patch) ||
    comparePrereleases(a.prerelease, b.prerelease)
  );
}

function compareNumbers(a: Uint64, b: Uint64): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Compares pre-releases by their identifiers, one after the other; of two with a common beginning the longer one comes
 * later.
 */
function comparePrereleases(a: Version['prerelease'], b: Version['prerelease']): number {
  // A version without pre-release comes after those with one.
  if (a.length === 0 || b.length === 0) return Math.sign(b.length - a.length);
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareIdentifiers(a[i] ?? '', b[i] ?? '');
    if (order !== 0) return order;
  }
  return Math.sign(a.length - b.length);
}

/** Numbers come before text. */
function compareIdentifiers(a: Uint64 | string, b: Uint64 | string): number {
  if (typeof a === 'string') return typeof b === 'string' ? Math.sign(compareText(a, b)) : 1;
  return typeof b === 'string' ? -1 : compareNumbers(a, b);
}

type Operator = '=' | '!=' | '>' | '>=' | '<' | '<=';

export interface Comparator {
  readonly operator: Operator;
  readonly version: Version;
}

/** Versions that satisfy all comparators of any one alternative. */
export interface VersionRange {
  readonly text: string;
  /** An alternative without comparators (`a || || b`) makes Go crash when it is asked; here it matches nothing. */
  readonly alternatives: readonly (readonly Comparator[])[];
}

/**
 * Reads a range as blang's `ParseRange` does.
 *
 * @throws VersionError
 */
export function parseRange(text: string): VersionRange {
  const alternatives = splitAlternatives(splitTokens(text)).map((tokens) =>
    tokens.flatMap(expandWildcard).map(parseComparator),
  );
  return { text, alternatives };
}

/** Ranges by their texts. */
const ranges = new Map<string, VersionRange>();

/** Most ranges that are kept; a catalog has a few hundred, and rules ask for each of them again and again. */
const MOST_RANGES = 5000;

/** The range, or undefined when the text is none. */
export function tryParseRange(text: string): VersionRange | undefined {
  try {
    const range = ranges.get(text) ?? parseRange(text);
    if (ranges.size >= MOST_RANGES) ranges.clear();
    if (!ranges.has(text)) ranges.set(ownText(text), range);
    return range;
  } catch (error) {
    if (error instanceof VersionError) return undefined;
    throw error;
  }
}

/** What makes Go crash when a version is compared with a range, in words; undefined for a sound one. */
export function crashIn({ alternatives }: VersionRange): string | undefined {
  return alternatives.some(({ length }) => length === 0)
    ? 'nothing stands between two ||, and programs in Go crash when they compare a version with that'
    : undefined;
}

/** A range without its empty alternatives. */
export function withoutEmptyAlternatives(text: string): string {
  return text.replaceAll(/\|\|(?: +\|\|)+/g, '||');
}

/** Splits at spaces, joins what follows an operator, and loses tokens of one character, as blang does. */
function splitTokens(text: string): string[] {
  const tokens: string[] = [];
  let from = 0;
  let last = '';
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (c === ' ' && last !== '>' && last !== '<' && last !== '=') {
      if (from < i - 1) tokens.push(text.slice(from, i));
      from = i + 1;
    } else if (c !== ' ') last = c;
  }
  if (from < text.length - 1) tokens.push(text.slice(from));
  return tokens.map((token) => token.replaceAll(' ', ''));
}

/** The parts of a range between `||`. @throws VersionError as blang words it */
function splitAlternatives(tokens: readonly string[]): string[][] {
  const alternatives: string[][] = [];
  let from = 0;
  for (const [i, token] of tokens.entries()) {
    if (token !== '||') continue;
    if (i === 0) throw new VersionError("First element in range is '||'");
    alternatives.push(tokens.slice(from, i));
    from = i + 1;
  }
  if (from === tokens.length) throw new VersionError("Last element in range is '||'");
  alternatives.push(tokens.slice(from));
  return alternatives;
}

/** The operator of a comparator, and what follows from the first digit on. @throws VersionError without a digit */
function splitOperator(token: string): [operator: string, version: string] {
  const digit = token.search(/\p{Nd}/u);
  if (digit < 0) throw new VersionError(`Could not get version from string: ${goQuoted(token)}`);
  return [goTrimmed(token.slice(0, digit)), token.slice(digit)];
}

/** A comparator such as `>=1.2.3`. @throws VersionError as blang words it */
function parseComparator(token: string): Comparator {
  const [operatorText, versionText] = splitOperator(token);
  const whole = goQuoted(operatorText + versionText);
  const operator = OPERATORS.get(operatorText);
  if (operator === undefined) {
    throw new VersionError(
      `Could not parse Range ${goQuoted(token)}: Could not parse comparator ${goQuoted(operatorText)} in ${whole}`,
    );
  }
  try {
    return { operator, version: parseVersion(versionText) };
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    throw new VersionError(
      `Could not parse Range ${goQuoted(token)}: Could not parse version ${goQuoted(versionText)} in ${whole}: ${error.message}`,
    );
  }
}

const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ['', '='],
  ['=', '='],
  ['==', '='],
  ['!', '!='],
  ['!=', '!='],
  ['>', '>'],
  ['>=', '>='],
  ['<', '<'],
  ['<=', '<='],
]);

/** What an operator on a wildcard version becomes: an operator and whether the version is raised first. */
const WILDCARD_OPERATORS: ReadonlyMap<string, { before?: Operator; operator: Operator; raised: boolean }> =
  new Map([
    ['>', { operator: '>=', raised: true }],
    ['>=', { operator: '>=', raised: false }],
    ['<', { operator: '<', raised: false }],
    ['<=', { operator: '<', raised: true }],
    ['', { before: '>=', operator: '<', raised: true }],
    ['=', { before: '>=', operator: '<', raised: true }],
    ['==', { before: '>=', operator: '<', raised: true }],
    // Both bounds must hold, so "not 1.x" matches nothing: a bug that clusters have.
    ['!', { before: '<', operator: '>=', raised: true }],
    ['!=', { before: '<', operator: '>=', raised: true }],
  ]);

/**
 * The comparators that stand for one with a wildcard: `1.2.x` becomes `>=1.2.0` and `<1.3.0`. Another one comes back as
 * it is.
 */
function expandWildcard(token: string): string[] {
  if (!token.includes('x')) return [token];
  const [operatorText, wildcard] = splitOperator(token);
  const flat = flatten(wildcard);
  const rule = WILDCARD_OPERATORS.get(operatorText);
  if (!rule) return [flat];
  const bound = rule.operator + (rule.raised ? raise(flat, wildcard) : flat);
  return rule.before === undefined ? [bound] : [rule.before + flat, bound];
}

/** A version with 0 in the place of its wildcards. */
function flatten(wildcard: string): string {
  const version = wildcard.replace('.x.x', '.x').replace('.x', '.0');
  return version.split('.').length === 2 ? `${version}.0` : version;
}

/**
 * Raises the part before the last wildcard, as blang does: `1.2.x` gives `1.3.0`, `1.x` gives `2.0.0`, and `1.x.x` gives `1.1.0`.
 *
 * @param flat the version with 0 in place of wildcards
 * @returns the empty string where blang has nothing to raise
 */
function raise(flat: string, wildcard: string): string {
  const parts = wildcard.split('.');
  if (parts.at(-1) !== 'x' || parts.length < 2 || parts.length > 3) return '';
  const raised = flat.split('.');
  const position = parts.length - 2;
  const text = raised[position] ?? '';
  // Go's strconv.Atoi takes a sign; BigInt takes no `+`.
  if (!/^[-+]?[0-9]+$/.test(text)) return '';
  raised[position] = String(BigInt(text.replace('+', '')) + 1n);
  return raised.join('.');
}

/** Longest release that the CSV's definition allows, in characters. */
const MAX_RELEASE = 20;

/**
 * Reads a bundle's explicit release, such as `1` or `2.beta`; an empty text is not a release.
 *
 * @throws VersionError
 */
export function parseRelease(text: string): Version['prerelease'] {
  if (text === '') return [];
  if (text.length > MAX_RELEASE) {
    throw new VersionError(
      `invalid release ${goQuoted(text)}: exceeds maximum length of ${MAX_RELEASE} characters`,
    );
  }
  const identifiers: Version['prerelease'][number][] = [];
  const defects: string[] = [];
  for (const [i, segment] of text.split('.').entries()) {
    try {
      identifiers.push(parsePrerelease(segment));
    } catch (error) {
      if (!(error instanceof VersionError)) throw error;
      defects.push(`segment ${i}: ${error.message}`);
    }
  }
  if (defects.length > 0) throw new VersionError(`invalid release ${goQuoted(text)}: ${defects.join('\n')}`);
  return identifiers;
}
