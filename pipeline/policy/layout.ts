/**
 * The layout of a catalog repository: what a path is, by patterns, the first match
 * decides. A path segment may hold `{catalog}`, `{package}` or `{version}`, each with a
 * glob for its text (`{catalog:v*.*}`), `{a,b}` for either word and `*`; `**` as the last
 * segment stands for any path below.
 */
import { minorOfCatalog } from '../../catalog/fbc/openshift.ts';
import { isDnsSubdomain } from '../../catalog/names.ts';

/** The folder of advisories, in every layout. */
export const ADVISORIES = 'advisories';

/** Kinds of path that a layout knows. Of `template` and `composite` files catalogs are rendered; `packageConfig` are settings. */
export const PATH_KINDS = ['template', 'packageConfig', 'composite', 'catalog', 'bundle'] as const;
export type PathKind = (typeof PATH_KINDS)[number];

export interface LayoutPattern {
  readonly kind: PathKind;
  readonly pattern: string;
  /** The catalog's name, in which `{catalog}` stands for what the pattern matched; that text itself when undefined. */
  readonly name?: string | undefined;
}

/** What a path is, as far as the layout says. */
interface PathMatch {
  readonly kind: PathKind;
  readonly catalog: string | undefined;
  readonly package: string | undefined;
  readonly version: string | undefined;
}

/** One segment of a pattern, or the rest of the path. */
export interface PatternSegment {
  readonly expression: RegExp;
  /** The segment as a plain name; undefined where it holds anything variable. */
  readonly literal: string | undefined;
  /** Whether any name matches. */
  readonly anything: boolean;
  readonly names: readonly string[];
  /** Whether it is `**`. */
  readonly rest: boolean;
}

export interface CompiledPattern extends LayoutPattern {
  readonly segments: readonly PatternSegment[];
}

/** Catalogs that are made from bundle directories. */
interface CatalogTemplates {
  readonly names: readonly string[];
  /** Reference of a bundle's image, with `{package}` and `{version}`. */
  readonly image: string | undefined;
}

export interface Layout {
  readonly patterns: readonly CompiledPattern[];
  /** Undefined when people write all catalogs. */
  readonly composed: CatalogTemplates | undefined;
  /** What a path is, or undefined when no pattern matches it. */
  match(path: string): PathMatch | undefined;
  /** The package in whose area a path lies although no pattern matches the path itself. */
  packageAt(path: string): string | undefined;
  /** The folder on the way to a path that is called after the package. */
  packageFolder(path: string): string | undefined;
  /** Whether a path lies in a folder of the patterns, or is a folder on the way there. */
  governs(path: string): boolean;
  /** Whether a path lies in the folder of a catalog, of which opm reads every file. */
  serves(path: string): boolean;
  /** Whether a path lies beside a file that is a whole catalog: who builds an image of its folder serves both. */
  isBesideCatalog(path: string): boolean;
}

const NAMES = ['catalog', 'package', 'version'];

/** A name in braces, with the glob that its text must match. */
const NAMED = /^(catalog|package|version)(?::([^:,]+))?$/;

/** Most names and wildcards in a segment: each more multiplies the time that a long name takes. */
const MOST_WILDCARDS = 3;

/** Names and wildcards of a segment; those in the glob of a name count as well, and stars side by side as one. */
function wildcardsIn(segment: string): number {
  // Stars, and braces without a comma: a list of words such as `{a,b}` is tried in one step.
  const found = segment.match(/\*+|\{[^{},]*\}/g) ?? [];
  // A name counts once, or as often as its glob has stars.
  return found.reduce((sum, one) => sum + Math.max(1, one.match(/\*+/g)?.length ?? 0), 0);
}

/** Why a text is not a pattern, in words; undefined for a good one. */
export function patternDefect(pattern: string): string | undefined {
  const segments = pattern.split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'a pattern is a relative path without empty segments';
  }
  if (segments.slice(0, -1).includes('**')) return '** is only allowed at the end';
  // It would match every file of the repository.
  if (segments[0] === '**') return 'a pattern must start with a name';
  for (const [, inside = ''] of pattern.matchAll(/\{([^{}]*)\}/g)) {
    if (inside.includes('/')) return `{${inside}} contains a slash: braces hold a part of one name`;
    if (!inside.includes(',') && !NAMED.test(inside)) {
      return `{${inside}} is not {catalog}, {package}, {version} or a list such as {a,b}`;
    }
  }
  const timesIn = (segment: string, name: string): number =>
    segment.split(new RegExp(`\\{${name}[:}]`)).length - 1;
  if (segments.some((segment) => NAMES.some((name) => timesIn(segment, name) > 1))) {
    return 'a segment must not use a name twice';
  }
  if (segments.some((segment) => wildcardsIn(segment) > MOST_WILDCARDS)) {
    return `a segment has at most ${MOST_WILDCARDS} names and wildcards`;
  }
  // What is left once all pairs of braces are taken out.
  const bare = pattern.replaceAll(/\{[^{}]*\}/g, '');
  return /[{}]/.test(bare) ? 'a brace is not closed or not opened' : undefined;
}

/**
 * Makes a layout from patterns that have no defect.
 *
 * @param composed the catalogs that are made from bundle directories; undefined when people write all
 */
export function compileLayout(patterns: readonly LayoutPattern[], composed?: CatalogTemplates): Layout {
  const compiled = patterns.map((pattern) => ({ ...pattern, segments: segmentsOf(pattern.pattern) }));
  return {
    patterns: compiled,
    composed,
    match: (path) => firstMatch(compiled, path),
    packageAt: (path) => firstPackage(compiled, path)?.name,
    packageFolder: (path) => {
      // A pattern that matches the whole path says best which folder it is; if none does, one that matches its beginning.
      const whole = compiled.find((pattern) => firstMatch([pattern], path) !== undefined);
      const { name, folder } = (whole && firstPackage([whole], path)) ?? firstPackage(compiled, path) ?? {};
      return folder?.split('/').at(-1) === name ? folder : undefined;
    },
    // A file in place of a folder on the way to a catalog would take the catalog's place.
    governs: (path) => {
      const names = path.split('/');
      return (
        firstMatch(compiled, path) !== undefined || compiled.some(({ segments }) => leadsTo(segments, names))
      );
    },
    serves: (path) => {
      const names = path.split('/');
      return compiled.some(
        (pattern) => pattern.kind === 'catalog' && isBelow(pattern, rootSegment(pattern), names),
      );
    },
    isBesideCatalog: (path) => {
      const names = path.split('/');
      return compiled.some((pattern) => {
        const { kind, segments } = pattern;
        // Only a written out name with a dot, such as `catalog.yaml`, is sure to be a file.
        const isOneFile = segments.length > 1 && segments.at(-1)?.literal?.includes('.') === true;
        const isWhole = isOneFile && rootSegment(pattern) === segments.length;
        return kind === 'catalog' && isWhole && isBelow(pattern, segments.length - 1, names);
      });
    },
  };
}

/** Whether a path lies below a folder that the first segments of a pattern, `segments` in number, match. */
function isBelow(pattern: CompiledPattern, segments: number, names: readonly string[]): boolean {
  const root = pattern.segments.slice(0, segments);
  let captured: Captured | undefined = {};
  for (const [i, segment] of root.entries())
    captured = captured && matchSegment(segment, names[i] ?? '', captured);
  return captured !== undefined && names.length > root.length;
}

/** The segments of a pattern without its `**`. */
export function withoutRest({ segments }: CompiledPattern): readonly PatternSegment[] {
  return segments.at(-1)?.rest ? segments.slice(0, -1) : segments;
}

/**
 * How many segments lead to what a publish reads: the folder or file of the catalog's name, with what is written out below
 * it (`{catalog}/catalog/{package}/**`). What else lies beside that, such as a template, is not published.
 */
export function rootSegment(pattern: CompiledPattern): number {
  const fixed = withoutRest(pattern);
  const named = fixed.findIndex(({ names }) => names.includes('catalog'));
  const variable = fixed.findIndex(({ literal }, i) => i > named && literal === undefined);
  return variable < 0 ? fixed.length : variable;
}

/**
 * Whether a path lies in the folders of a pattern, or is a folder on the way there. A name that could be anybody's,
 * such as `{catalog}` alone at the top, is on the way only when it is a version of the platform.
 */
function leadsTo(segments: readonly PatternSegment[], names: readonly string[]): boolean {
  const folders = segments.slice(0, -1);
  const head = folders.findIndex(({ literal }) => literal === undefined);
  // The names that a pattern begins with: a path that they lead through is on the way, however short it is.
  const literal = (head < 0 ? segments : folders.slice(0, head)).map((segment) => segment.literal);
  if (literal.length > 0 && literal.every((name, i) => i >= names.length || names[i] === name)) return true;
  let captured: Captured | undefined = {};
  let isCertain = false;
  for (const [i, segment] of folders.slice(0, names.length).entries()) {
    const name = names[i] ?? '';
    captured = matchSegment(segment, name, captured);
    if (!captured) return false;
    isCertain ||= !segment.anything || minorOfCatalog(name) !== undefined;
  }
  return isCertain;
}

/**
 * The segments of a pattern, each as a regular expression. `{name}`, `{name:glob}` and `{a,b}` stand for parts of a name.
 */
function segmentsOf(pattern: string): PatternSegment[] {
  return pattern.split('/').map((segment) => {
    const names: string[] = [];
    // Of each match: a group in braces, stars, or a character that regular expressions would read in a way of their own.
    const source = segment.replaceAll(
      /\{([^{}]*)\}|\*+|[\\^$.+?()[\]|]/g,
      (found, group: string | undefined) => {
        if (group === undefined) return found.startsWith('*') ? '[^/]*' : `\\${found}`;
        if (group.includes(',')) return `(?:${group.split(',').map(escapeText).join('|')})`;
        const [name = '', glob] = group.split(':');
        names.push(name);
        return `(?<${name}>${glob === undefined ? '[^/]+' : glob.split(/\*+/).map(escapeText).join('[^/]*')})`;
      },
    );
    const variable = /[{*]/.test(segment);
    return {
      expression: new RegExp(`^${source}$`, 'u'),
      literal: variable ? undefined : segment,
      anything: /^(?:\{(?:catalog|package|version)\}|\*+)$/.test(segment),
      names,
      rest: segment === '**',
    };
  });
}

/** A text as a part of a regular expression that matches the text itself. */
export function escapeText(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** No file system has a longer name, and git has: with several wildcards it would take very long. Such a path never passes. */
const LONGEST_NAME = 255;

/** Values of names that a match found so far. */
export type Captured = Readonly<Record<string, string>>;

/**
 * Matches one segment of a path.
 *
 * @returns the captured names with those of this segment, or undefined when it does not match
 */
export function matchSegment(
  segment: PatternSegment,
  name: string,
  captured: Captured,
): Captured | undefined {
  if (segment.literal !== undefined) return segment.literal === name ? captured : undefined;
  if (name.length > LONGEST_NAME) return undefined;
  const groups = segment.expression.exec(name)?.groups;
  // An expression without names has no groups, even if it matches.
  if (!groups) return segment.expression.test(name) ? captured : undefined;
  for (const key of segment.names) {
    const value = groups[key] ?? '';
    if (Object.hasOwn(captured, key) && captured[key] !== value) return undefined;
    if (key === 'version' && !VERSION.test(value)) return undefined;
  }
  return { ...captured, ...groups };
}

/** Names of versions' folders; one with another name is not a bundle directory. */
const VERSION = /^v?[0-9][0-9A-Za-z.+_-]{0,127}$/;
/** As long as a tag may be, since `{catalog}` may be the tag of an image. */
const CATALOG = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Whether a folder is called after a version. */
export function isVersionFolder(name: string): boolean {
  return VERSION.test(name);
}

/** Whether a name from a path may be used as the name of a catalog. */
export function isCatalogName(name: string): boolean {
  return CATALOG.test(name);
}

/** Why a name from a path may not be used as the name of a catalog. */
export function catalogNameDefect(name: string): string {
  return `${JSON.stringify(name)} is not a valid catalog name: use letters, digits, dots, dashes and underscores`;
}

/** Whether a name from a path may be used as the name of a package. */
export function isPackageName(name: string): boolean {
  return isDnsSubdomain(name);
}

/** What a path is, by the first pattern that matches it. */
export function firstMatch(patterns: readonly CompiledPattern[], path: string): PathMatch | undefined {
  const names = path.split('/');
  for (const pattern of patterns) {
    const captured = matchAll(pattern.segments, names);
    if (captured) {
      const { package: ofPackage, version } = captured;
      return { kind: pattern.kind, catalog: catalogName(pattern, captured), package: ofPackage, version };
    }
  }
  return undefined;
}

/** The name of the catalog that a pattern matched; undefined where the pattern neither captures nor gives one. */
export function catalogName({ name }: LayoutPattern, { catalog }: Captured): string | undefined {
  return name?.replaceAll('{catalog}', () => catalog ?? '') ?? catalog;
}

/** Matches a whole path. A `**` at the end stands for one name or more. */
function matchAll(segments: readonly PatternSegment[], names: readonly string[]): Captured | undefined {
  const open = segments.at(-1)?.rest ?? false;
  const fixed = open ? segments.slice(0, -1) : segments;
  if (open ? names.length <= fixed.length : names.length !== fixed.length) return undefined;
  return matchBeginning(fixed, names);
}

/** Matches the first names of a path, one for each segment. */
function matchBeginning(segments: readonly PatternSegment[], names: readonly string[]): Captured | undefined {
  let captured: Captured | undefined = {};
  for (const [i, segment] of segments.entries()) {
    captured = matchSegment(segment, names[i] ?? '', captured);
    if (!captured) return undefined;
  }
  return captured;
}

/** The package that the first matching pattern captures from the beginning of a path, and what leads to it. */
function firstPackage(
  patterns: readonly CompiledPattern[],
  path: string,
): { readonly name: string; readonly folder: string } | undefined {
  const names = path.split('/');
  for (const { segments } of patterns) {
    const at = segments.findIndex(({ names: captures }) => captures.includes('package'));
    // The package must be a folder, or the path itself: its name alone decides nothing below a file.
    if (at < 0 || at >= names.length) continue;
    const captured = matchBeginning(segments.slice(0, at + 1), names);
    if (captured) return { name: captured['package'] ?? '', folder: names.slice(0, at + 1).join('/') };
  }
  return undefined;
}

// Where the layout's patterns have bundle directories.

/** Folders of a bundle directory: what a pattern writes out before them leads to the directory. */
const OF_BUNDLE: ReadonlySet<string> = new Set(['manifests', 'metadata', 'tests']);

/** How many segments of a pattern lead to a bundle directory: to the package and version, and to a folder such as `bundle/` in it. */
export function bundleDepth({ segments }: CompiledPattern): number {
  // `{package}` and `{version}` say which bundle it is; a catalog has many.
  const isNamed = ({ names }: PatternSegment): boolean => names.some((name) => name !== 'catalog');
  const last = segments.findLastIndex(isNamed);
  // The directory ends before what varies, such as `**`, before a folder that every bundle has, and before a file's name.
  const after = segments.findIndex(
    ({ literal }, i) =>
      i > last && (literal === undefined || OF_BUNDLE.has(literal) || i === segments.length - 1),
  );
  return after < 0 ? segments.length : after;
}

/** The bundle directory that a path is in, by the first pattern that matches the path; empty if none does. */
export function bundleFolderOf({ patterns }: Layout, path: string): string {
  const pattern = patterns.find((one) => firstMatch([one], path) !== undefined);
  return pattern ? path.split('/').slice(0, bundleDepth(pattern)).join('/') : '';
}
