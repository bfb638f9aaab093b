/** Files that no cluster gets: those of tests, examples, documentation, templates, archives and copies, and those that opm ignores. */
import { costlyFile, ignoreMatcher, isIgnoreFile } from '../../../catalog/fbc/ignore.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { whyUnreadable } from '../../git/source.ts';
import type { ListedFile } from '../../git/tree.ts';

/** Names of folders that say that clusters do not get their files, as real repositories use them. */
const UNSHIPPED: readonly { readonly folder: RegExp; readonly reason: string }[] = [
  {
    folder:
      /(?:^|\/)(?:(?:[^/]*[-_])?(?:testdata|examples?|samples?|demos?|tutorials?|fixtures?)|tests?|e2e|molecule|[^/]*(?:veneer|template)s?[^/]*)\//i,
    reason: 'a test, an example or a template',
  },
  { folder: /(?:^|\/)[._-]?(?:archived?|archives|attic|retired|obsolete)\//i, reason: 'put away' },
  { folder: /(?:^|\/)(?:docs?|documentation)\//i, reason: 'part of the documentation' },
  {
    folder: /(?:^|\/)(?:third[-_]?party|3rd[-_]?party|vendor(?:ed)?|externals?)\//i,
    reason: "a copy of another project's files",
  },
];

/** Why files of a path are not expected to be published; undefined where they may be. */
export function unshippedReason(path: string): string | undefined {
  return UNSHIPPED.find(({ folder }) => folder.test(path))?.reason;
}

/** Whether a folder in a path says that no cluster gets its files. */
export function isUnshipped(path: string): boolean {
  return unshippedReason(path) !== undefined;
}

/** Whether a template is one of a test, an example or a copy: a folder for templates is where templates are. */
export function isUnshippedTemplate(path: string): boolean {
  return isUnshipped(path.replaceAll(/[^/]*(?:veneer|template)s?[^/]*\//gi, ''));
}

/** Most ignore files that are read, and the largest, in bytes: setup reads any repository, whatever its size. */
const MOST_FILES = 100;
const MOST_BYTES = 64 * 1024;

/** Whether opm ignores a path of a commit. Ignore files that are too many or too large count as if they were not there. */
export async function ignoredPaths(
  objects: ObjectReader,
  files: readonly ListedFile[],
): Promise<(path: string) => boolean> {
  const own = files.filter(({ path, mode }) => isIgnoreFile(path) && whyUnreadable(mode) === undefined);
  const texts: (readonly [string, string])[] = [];
  for (const { path, id } of own.slice(0, MOST_FILES)) {
    const info = await objects.info(id);
    if (info === undefined || info.size > MOST_BYTES) continue;
    texts.push([path, (await objects.read(id, MOST_BYTES)).bytes.toString('utf8')]);
  }
  const paths = texts.length > 0 ? files.map(({ path }) => path) : [];
  return costlyFile(texts, paths) === undefined ? ignoreMatcher(texts) : () => false;
}
