/** Whether a layout fits the files of a commit: what the gate would make of it, worked out from what the files hold. */
import { dirname } from 'node:path/posix';
import { blobsOfPackages, catalogOf, joinedBlobs } from '../../../catalog/fbc/model.ts';
import { groupedBy } from '../../../catalog/go/grouped.ts';
import { OPM_RULES } from '../../../catalog/rules/opm.ts';
import { runCatalogChecks } from '../../../catalog/rules/rule.ts';
import { amountText } from '../../text.ts';
import type { WrittenPattern } from '../policy-file.ts';
import type { BuildFacts } from './build-files.ts';
import { type CatalogFacts, isKeyOf } from './catalog-files.ts';
import { catalogNamer } from './catalog-names.ts';
import type { LeftOut } from './fragments.ts';
import { FORMAT } from './shapes.ts';

/** What is known of the files of a commit. */
export interface Evidence {
  readonly catalogs: readonly CatalogFacts[];
  readonly templates: readonly string[];
  /** Paths of all files, and of those that were read. */
  readonly paths: readonly string[];
  readonly read: ReadonlySet<string>;
  /** Paths of files with blobs that no catalog has, for a known reason. */
  readonly leftOut: ReadonlySet<string>;
}

/** Why a layout does not fit, in words; nothing where it holds. */
export function layoutContradictions(patterns: readonly WrittenPattern[], evidence: Evidence): string[] {
  const nameOf = catalogNamer(patterns);
  const own = evidence.catalogs.filter(({ path }) => nameOf(path) !== undefined);
  const byCatalog = groupedBy(own, ({ path }) => nameOf(path) ?? '');
  return [
    ...strangeFiles(patterns, nameOf, evidence),
    ...(patterns.length > 0 && byCatalog.size === 0 ? ['no file with blobs is in a catalog'] : []),
    ...[...byCatalog].flatMap(([name, files]) => catalogDefects(name, files)),
    ...barePackages([...byCatalog], new Set(unreadIn(evidence).map(nameOf))),
    ...(hasBundles([...byCatalog.values()].flat()) || byCatalog.size === 0
      ? []
      : ['no catalog has a bundle']),
    ...evidence.catalogs
      .filter(({ path }) => nameOf(path) === undefined && !evidence.leftOut.has(path))
      .map(({ path }) => `${path} has blobs, and is in no catalog`),
  ];
}

/** Files in catalogs that opm could not read there: templates, and what is not a catalog at all. */
function strangeFiles(
  patterns: readonly WrittenPattern[],
  nameOf: (path: string) => string | undefined,
  { catalogs, templates, paths, read, leftOut }: Evidence,
): string[] {
  const known = new Set(catalogs.map(({ path }) => path));
  const isTemplate = new Set(templates);
  const isStrange = (path: string): boolean => {
    const name = path.split('/').at(-1) ?? '';
    if (nameOf(path) === undefined || known.has(path) || name.startsWith('.')) return false;
    // A YAML or JSON file that was not read may be a part of the catalog.
    return isTemplate.has(path) || leftOut.has(path) || !FORMAT.test(path) || read.has(path);
  };
  const several = paths.filter((path) => known.has(path) && namesOf(patterns, path).size > 1);
  return [
    ...paths.filter(isStrange).map((path) => `${path} is in a catalog, and has no blobs of one`),
    ...several.map((path) => `${path} is in two catalogs: ${[...namesOf(patterns, path)].join(' and ')}`),
  ];
}

/** The names that each pattern by itself gives the catalog of a file. */
function namesOf(patterns: readonly WrittenPattern[], path: string): Set<string> {
  return new Set(patterns.flatMap((pattern) => catalogNamer([pattern])(path) ?? []));
}

/** Why files cannot be one catalog, in sentences. */
function catalogDefects(name: string, files: readonly CatalogFacts[]): string[] {
  const defined = new Set(files.flatMap(({ defines }) => defines));
  // What cannot be read may have it.
  const isRead = files.every(({ defect }) => defect === undefined);
  const foreign = files.flatMap(({ path, packages }) =>
    packages
      .filter((one) => !defined.has(one))
      .map((one) => `${path} is of the package ${one}, of which catalog ${name} has no olm.package`),
  );
  return [
    ...(isRead ? foreign.slice(0, 1) : []),
    ...definedTwice(name, files, 'package', ({ defines }) => defines),
    ...definedTwice(name, files, 'bundle', ({ bundles }) => bundles),
    ...definedTwice(name, files, 'channel', ({ channels }) => channels),
  ];
}

/** Paths of files that were not read and may be catalogs. */
function unreadIn({ paths, read }: Evidence): string[] {
  return paths.filter((path) => FORMAT.test(path) && !read.has(path));
}

/** Packages with channels but without bundles, in a catalog in which others have some: a build adds them later. */
function barePackages(
  catalogs: readonly (readonly [name: string, files: readonly CatalogFacts[]])[],
  unclear: ReadonlySet<string | undefined>,
): string[] {
  return catalogs.flatMap(([name, files]) =>
    unclear.has(name)
      ? []
      : barePackagesIn(files).map(({ bare, path }) => `catalog ${name} has no bundle of ${bare} (${path})`),
  );
}

/** Packages of a catalog with channels but without bundles, each with the file that defines it. */
function barePackagesIn(files: readonly CatalogFacts[]): { readonly bare: string; readonly path: string }[] {
  if (!hasBundles(files) || files.some(({ defect }) => defect !== undefined)) return [];
  return files.flatMap(({ path, defines, channels }) =>
    defines
      .filter((name) => channels.some((key) => isKeyOf(name, key)))
      .filter((name) => !files.some(({ bundles }) => bundles.some((key) => isKeyOf(name, key))))
      .map((name) => ({ bare: name, path })),
  );
}

/** Files of catalogs to which a build adds bundles: a script writes a file beside them that the repository does not have. */
export function unfilledCatalogs(
  patterns: readonly WrittenPattern[],
  { catalogs, paths }: Evidence,
  { mentions }: BuildFacts,
): LeftOut[] {
  const nameOf = catalogNamer(patterns);
  const known = new Set(paths);
  const own = catalogs.filter(({ path }) => nameOf(path) !== undefined);
  return [...groupedBy(own, ({ path }) => nameOf(path)).values()].flatMap((files) => {
    const [unfilled] = barePackagesIn(files);
    if (!unfilled) return [];
    const added = mentions.find(
      ({ path, isCopied }) =>
        !isCopied &&
        FORMAT.test(path) &&
        // A path with a variable (\0) or a wildcard names no single file.
        !/[\0*]/.test(path) &&
        !known.has(path) &&
        dirname(path) === dirname(unfilled.path),
    );
    if (!added) return [];
    const reason = `it has no bundle of ${unfilled.bare} before ${added.file} makes ${added.path}`;
    return files.map(({ path }) => ({ path, reason }));
  });
}

/** What two files of a catalog both define; within one file it is a defect of the file, not of the layout. */
function definedTwice(
  name: string,
  files: readonly CatalogFacts[],
  kind: string,
  keysOf: (file: CatalogFacts) => readonly string[],
): string[] {
  const seen = new Map<string, string>();
  const twice = new Set<string>();
  let example = '';
  for (const file of files) {
    for (const key of new Set(keysOf(file))) {
      const other = seen.get(key);
      seen.set(key, other ?? file.path);
      if (other === undefined) continue;
      if (twice.size === 0) example = `${other} and ${file.path}`;
      twice.add(key);
    }
  }
  return twice.size === 0
    ? []
    : [`catalog ${name} defines ${amountText(twice.size, kind)} twice: ${example}`];
}

/** Whether one of some files has a bundle. */
function hasBundles(files: readonly CatalogFacts[]): boolean {
  return files.some(({ bundles }) => bundles.length > 0);
}

/**
 * Catalogs without a bundle beside others that have some: they are not filled yet.
 *
 * @param unread paths of files that may have one
 */
export function emptyCatalogs(
  patterns: readonly WrittenPattern[],
  files: readonly CatalogFacts[],
  unread: readonly string[],
): string[] {
  const nameOf = catalogNamer(patterns);
  const unclear = new Set(unread.map(nameOf));
  const own = files.filter(({ path }) => nameOf(path) !== undefined);
  return [...groupedBy(own, ({ path }) => nameOf(path) ?? '')].flatMap(([name, some]) =>
    unclear.has(name) || hasBundles(some) || some.some(({ defect }) => defect !== undefined)
      ? []
      : [`catalog ${name} has no bundle (${some[0]?.path})`],
  );
}

/**
 * What is wrong with catalogs themselves, which no layout can heal. A package that is split over files is validated with
 * all of them.
 *
 * @param unread paths of files that may have the rest
 */
export function defectsOf(
  patterns: readonly WrittenPattern[],
  files: readonly CatalogFacts[],
  unread: readonly string[],
): string[] {
  const nameOf = catalogNamer(patterns);
  const unclear = new Set(unread.map(nameOf));
  const isSplit = new Set<CatalogFacts>();
  const ofCatalogs = [...groupedBy(files, ({ path }) => nameOf(path))].flatMap(([name, some]) => {
    const shared = sharedPackages(some);
    const parts = some.filter(({ packages }) => packages.some((one) => shared.has(one)));
    for (const file of parts) isSplit.add(file);
    const isRead = !unclear.has(name) && some.every(({ blobs }) => blobs !== undefined);
    const blobs = joinedBlobs(parts.flatMap((file) => file.blobs ?? []));
    const catalog = catalogOf(blobsOfPackages(blobs, (one) => shared.has(one)));
    const findings = name !== undefined && isRead ? runCatalogChecks(catalog, OPM_RULES) : [];
    const invalid = findings.find(({ severity }) => severity === 'error');
    return invalid ? [`catalog ${name} (${dirname(parts[0]?.path ?? '')}): ${invalid.message}`] : [];
  });
  return [...files.flatMap((file) => fileDefects(file, isSplit.has(file))), ...ofCatalogs];
}

/** Packages that several files name, or that a file without bundles names: the rest of them is elsewhere. */
function sharedPackages(files: readonly CatalogFacts[]): Set<string> {
  const [seen, shared] = [new Set<string>(), new Set<string>()];
  for (const { packages, bundles } of files)
    for (const name of packages) {
      if (seen.has(name) || bundles.length === 0) shared.add(name);
      seen.add(name);
    }
  return shared;
}

/**
 * Why a file cannot be served, in sentences.
 *
 * @param isSplit whether other files of its catalog have the rest of its packages
 */
function fileDefects(
  { path, defect, invalid, invalidBundle, defines, bundles, channels }: CatalogFacts,
  isSplit: boolean,
): string[] {
  // A file with something twice is reported for that alone: opm validate says the same in other words.
  const double = [defines, bundles, channels].find((keys) => new Set(keys).size < keys.length);
  const said = isSplit ? invalidBundle : invalid;
  return [
    ...(defect === undefined ? [] : [`${path}: ${defect}`]),
    ...(double ? [`${path} defines ${double.find((key, i) => double.indexOf(key) < i)} twice`] : []),
    ...(said === undefined || double ? [] : [`${path}: ${said}`]),
  ];
}
