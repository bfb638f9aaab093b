/**
 * The layout of a commit: hypotheses, of which the first one that its files and its past do not contradict is taken.
 */
import { appendToGroup, groupedBy } from '../../../catalog/go/grouped.ts';
import type { ObjectReader } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import type { ListedFile } from '../../git/tree.ts';
import type { WrittenPattern } from '../policy-file.ts';
import {
  type CatalogFacts,
  type CatalogFilesRead,
  mayBeCatalog,
  type ReadOptions,
  readCatalogFiles,
} from './catalog-files.ts';
import { catalogNamer, catalogsIn } from './catalog-names.ts';
import { foldersAbove, type LeftOut, withoutFragments } from './fragments.ts';
import { type FoundLayout, layoutOf } from './layout.ts';
import { type Link, linksOf, linkTargets } from './links.ts';
import { preferredLayout } from './preferred.ts';
import { defectsOf, type Evidence, emptyCatalogs, layoutContradictions, unfilledCatalogs } from './prove.ts';
import { rivalsAmong, uncopiedAmong } from './rivals.ts';
import {
  withCopiedFolders,
  withFoldersOfOneImage,
  withImageNames,
  withPackagesApart,
  withWholeNames,
} from './separate-images.ts';
import { FORMAT, folderOf, type LayoutStyle } from './shapes.ts';
import { ignoredPaths, unshippedReason } from './unshipped.ts';

/** A layout that was looked for, and what speaks against it. */
export interface ProvenLayout {
  readonly found: FoundLayout;
  /** Files with blobs that are in no catalog, each with the reason. */
  readonly leftOut: readonly LeftOut[];
  /** What is wrong with files of catalogs themselves, where they were validated. */
  readonly defects: readonly string[];
  /** Why no hypothesis holds; empty where one does. */
  readonly contradictions: readonly string[];
  /** What only people can decide about the layout, which is a guess then. */
  readonly questions: readonly string[];
  /** Links to files of catalogs, which the gate does not follow. */
  readonly links: readonly Link[];
  /** Links to any files with blobs. */
  readonly linked: readonly Link[];
  readonly looked: CatalogFilesRead;
}

/** Ways to write the layout of the same files, the most general first. */
const STYLES: readonly LayoutStyle[] = [
  {},
  { versionsOnly: true },
  { literalPackages: true },
  { literalPackages: true, versionsOnly: true },
];

/** What the files of a commit hold. */
export async function readEvidence(
  objects: ObjectReader,
  files: readonly ListedFile[],
  options: ReadOptions = {},
): Promise<ReadEvidence> {
  const looked = await readCatalogFiles(objects, files, options);
  const { templates, read } = looked;
  const isIgnored = await ignoredPaths(objects, files);
  const catalogs = looked.catalogs.filter(({ path }) => !isIgnored(path));
  const ignored = looked.catalogs.filter(({ path }) => isIgnored(path));
  const paths = files.map(({ path }) => path).filter((path) => !isIgnored(path));
  const unread = paths.filter((path) => mayBeCatalog(path) && !read.has(path));
  // A template may name its inputs from any folder, so the ends of paths are compared.
  const inputPaths = catalogs
    .map(({ path }) => path)
    .concat(templates)
    .filter((path) => [...looked.inputs].some((input) => path === input || path.endsWith(`/${input}`)));
  // What lies beside an input, and is named by no template yet, is one to come.
  const folders = new Set(inputPaths.map(folderOf).filter((folder) => folder !== ''));
  const isInput = ({ path }: CatalogFacts): boolean =>
    inputPaths.includes(path) || folders.has(folderOf(path));
  const inputs = catalogs.filter(isInput).map(({ path }) => ({ path, reason: 'the input of a template' }));
  const own = catalogs.filter((file) => !isInput(file));
  const links = await linksOf(objects, files);
  const stores = linkTargets(own, paths, links);
  const isStore = new Set(stores.map(({ path }) => path));
  const { parts, fragments } = withoutFragments(
    own.filter(({ path }) => !isStore.has(path)),
    unread,
  );
  const reasons = [
    ...inputs,
    ...fragments,
    ...looked.unshipped.map((path) => ({ path, reason: unshippedReason(path) ?? '' })),
    ...ignored.map(({ path }) => ({
      path,
      reason: 'an .indexignore file names it, so opm does not read it',
    })),
    ...stores,
  ];
  const leftOut = new Set(reasons.map(({ path }) => path));
  const { validates = false } = options;
  return { looked, catalogs: parts, templates, paths, read, unread, reasons, leftOut, links, validates };
}

export interface ReadEvidence extends Evidence {
  /** What all files hold, also those that are left out of the catalogs. */
  readonly looked: CatalogFilesRead;
  /** Paths of files that may be catalogs, and were not read. */
  readonly unread: readonly string[];
  /** Why each file of `leftOut` is in no catalog. */
  readonly reasons: readonly LeftOut[];
  readonly links: readonly Link[];
  /** Whether the catalogs were validated. */
  readonly validates: boolean;
}

/** A repository and its tip, which decide where several hypotheses hold. */
interface LayoutHistory {
  readonly repository: Repository;
  readonly commit: string;
}

/** Looks for the layout of a commit. */
export async function findLayout(evidence: ReadEvidence, past?: LayoutHistory): Promise<ProvenLayout> {
  const { looked, catalogs: parts, paths, read } = evidence;
  if (parts.length === 0) return provenAs(NOTHING, evidence);
  const holds = (found: FoundLayout): boolean => contradictionsOf(found, evidence).length === 0;
  const all = STYLES.map((style) => layoutOf(parts, paths, read, style));
  // The most general style that holds comes first.
  const [first, ...others] = distinct(all.filter(holds));
  if (!first) {
    // What no image has may be all that no hypothesis fits.
    const { patterns = [] } = all[0] ?? {};
    const unused = [
      ...uncopiedAmong(patterns, parts, looked.build),
      ...unfilledCatalogs(patterns, evidence, looked.build),
    ];
    if (unused.length > 0) return findLayout(evidenceWithout(unused, evidence), past);
    // Paths that are written out know no catalog to come: they are the last resort.
    const literal = rootsOf(parts, paths, read);
    if (holds(literal)) return decideLayout(literal, evidence, past);
    return provenAs(NOTHING, evidence, all[0] ? contradictionsOf(all[0], evidence) : []);
  }
  const best = others.length > 0 && past ? await preferredLayout([first, ...others], past) : first;
  return decideLayout(best, evidence, past);
}

/**
 * A layout that fits the files, with the questions that people must decide. With no question, a layout is looked for again
 * without the catalogs that no image ships.
 */
async function decideLayout(
  layout: FoundLayout,
  evidence: ReadEvidence,
  past?: LayoutHistory,
): Promise<ProvenLayout> {
  const found = inOwnImages(layout, evidence);
  const { questions, unused } = rivalsAmong(found.patterns, evidence.catalogs, evidence.looked.build);
  return questions.length > 0 || unused.length === 0
    ? { ...provenAs(found, evidence), questions }
    : findLayout(evidenceWithout(unused, evidence), past);
}

/** A layout with what the evidence says of it. @param why why no hypothesis holds */
function provenAs(
  found: FoundLayout,
  { looked, reasons, leftOut, catalogs: parts, unread, validates, links }: ReadEvidence,
  why: readonly string[] = [],
): ProvenLayout {
  const { patterns } = found;
  const copies = found.others.filter((path) => !leftOut.has(path)).map((path) => ({ path, reason: COPY }));
  const nameOf = catalogNamer(patterns);
  return {
    found: { ...found, others: [...found.others, ...leftOut].filter((path) => nameOf(path) === undefined) },
    leftOut: [...reasons, ...copies],
    defects: validates
      ? [...defectsOf(patterns, parts, unread), ...emptyCatalogs(patterns, parts, unread)]
      : [],
    contradictions: why,
    questions: [],
    links: linksTo(parts, found, links),
    linked: links.filter(({ target }) => looked.catalogs.some(({ path }) => isBelow(path, target))),
    looked,
  };
}

/** The evidence as if some files were not catalogs. */
function evidenceWithout(unused: readonly LeftOut[], evidence: ReadEvidence): ReadEvidence {
  const gone = new Set(unused.map(({ path }) => path));
  return {
    ...evidence,
    catalogs: evidence.catalogs.filter(({ path }) => !gone.has(path)),
    reasons: [...evidence.reasons, ...unused],
    leftOut: new Set([...evidence.leftOut, ...gone]),
  };
}

/**
 * The layout with catalogs named as build files ship them: parts that are in images of their own are catalogs of their
 * own, those in one image are one.
 */
function inOwnImages(found: FoundLayout, evidence: ReadEvidence): FoundLayout {
  const { catalogs, looked, paths } = evidence;
  const joined = withPackagesApart(found.patterns, catalogs, looked.build);
  const patterns = withImageNames(joined, catalogs, looked.build);
  const layoutWith = (some: readonly WrittenPattern[]): FoundLayout => ({
    ...found,
    patterns: some,
    catalogs: catalogsIn(some, paths),
  });
  // A wider layout also fits catalogs to come: it is taken if it joins patterns and nothing contradicts it.
  const wider = [withWholeNames(patterns), withFoldersOfOneImage(patterns, catalogs, looked.build)];
  const fitting = wider
    .filter(({ length }) => length < patterns.length)
    .map(layoutWith)
    .find((one) => contradictionsOf(one, evidence).length === 0);
  const narrow = fitting ?? layoutWith(patterns);
  const whole = layoutWith(withCopiedFolders(narrow.patterns, paths, looked.build));
  return contradictionsOf(whole, evidence).length === 0 ? whole : narrow;
}

/** Links to files that the layout has in catalogs, or to folders with such files. */
function linksTo(parts: readonly CatalogFacts[], { patterns }: FoundLayout, links: readonly Link[]): Link[] {
  const nameOf = catalogNamer(patterns);
  const own = parts.filter(({ path }) => nameOf(path) !== undefined);
  return links.filter(({ target }) => own.some(({ path }) => isBelow(path, target)));
}

/** Whether a path is a folder, or in it. */
function isBelow(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`);
}

/** The layout without a catalog. */
const NOTHING: FoundLayout = { patterns: [], catalogs: [], others: [] };
/** Why a file is left out whose blobs a catalog has as well. */
const COPY = 'a catalog has the same blobs';

/** Why a layout does not fit the evidence, as far as files that it leaves out on purpose do not explain it. */
function contradictionsOf(found: FoundLayout, evidence: Evidence): string[] {
  const whole = new Set(evidence.catalogs.filter(({ isWhole }) => isWhole).map(({ path }) => path));
  // A whole catalog is none of the parts that others have as well.
  const others = new Set([...evidence.leftOut, ...found.others.filter((path) => !whole.has(path))]);
  return layoutContradictions(found.patterns, { ...evidence, leftOut: others });
}

/** A layout in which each smallest folder with whole packages is written out. */
function rootsOf(
  parts: readonly CatalogFacts[],
  paths: readonly string[],
  read: ReadonlySet<string>,
): FoundLayout {
  const roots = new Map<string, CatalogFacts[]>();
  for (const file of parts) {
    const root = file.isWhole
      ? file.path
      : (foldersAbove(file.path).find((folder) => isWholeBelow(parts, folder)) ?? '');
    appendToGroup(roots, root, file);
  }
  const isOurs = new Set(parts.map(({ path }) => path));
  const patterns = [...roots].flatMap(([root, files]): WrittenPattern[] => {
    // The file's or folder's path with dashes; `catalog` for the root of the repository.
    const name = root.replace(/\.[^./]+$/, '').replaceAll(/[^A-Za-z0-9._-]+/g, '-') || 'catalog';
    const below = paths.filter((path) => path.startsWith(`${root}/`));
    // `**` would also take files that are not of catalogs: it is for folders without such files. Hidden files do not
    // count, nor YAML and JSON that nobody read: those may be catalogs as well.
    const isAll =
      below.length > 0 &&
      below.every(
        (path) => isOurs.has(path) || /(?:^|\/)\.[^/]*$/.test(path) || (FORMAT.test(path) && !read.has(path)),
      );
    return isAll
      ? [{ path: `${root}/**`, name }]
      : foldersOrFiles(files, paths).map((path) => ({ path, name }));
  });
  const nameOf = catalogNamer(patterns);
  return { patterns, catalogs: [...new Set(paths.flatMap((path) => nameOf(path) ?? []))], others: [] };
}

/**
 * Patterns for files: `FOLDER/*.ENDING` for those that are all files of that ending in their folder, else each by its
 * path.
 */
function foldersOrFiles(files: readonly CatalogFacts[], paths: readonly string[]): string[] {
  const isOurs = new Set(files.map(({ path }) => path));
  return [...groupedBy(files, ({ path }) => folderOf(path))].flatMap(([folder, some]) => {
    const own = some.map(({ path }) => path);
    const [ending = '', ...more] = new Set(own.map((path) => path.slice(path.lastIndexOf('.'))));
    const isAlone = paths.every(
      (path) => folderOf(path) !== folder || !path.endsWith(ending) || isOurs.has(path),
    );
    return folder !== '' && own.length > 1 && more.length === 0 && isAlone ? [`${folder}/*${ending}`] : own;
  });
}

/** Whether the files below a folder have bundles, and define every package that they name. */
function isWholeBelow(parts: readonly CatalogFacts[], folder: string): boolean {
  const files = parts.filter(({ path }) => path.startsWith(`${folder}/`));
  const defined = new Set(files.flatMap(({ defines }) => defines));
  return (
    files.some(({ bundles }) => bundles.length > 0) &&
    files.every(({ packages }) => packages.every((name) => defined.has(name)))
  );
}

/** The layouts, of equal ones only the first. */
function distinct(layouts: readonly FoundLayout[]): FoundLayout[] {
  const texts = layouts.map(({ patterns }) => JSON.stringify(patterns));
  return layouts.filter((_, i) => texts.indexOf(texts[i] ?? '') === i);
}
