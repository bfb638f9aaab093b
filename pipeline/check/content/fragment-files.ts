/** The Dockerfiles of a tree that describe images of catalogs, and what their builds get of its files. */
import { dirname } from 'node:path/posix';
import { CONTEXT_IGNORE, contextMatcher } from '../../../catalog/fbc/build-context.ts';
import { type DescribedFragment, fragmentIn } from '../../../catalog/fbc/fragment.ts';
import { catalogUnits } from '../../change/unit.ts';
import { whyUnreadable } from '../../git/source.ts';
import { joinPath, type ListedFile, listFiles } from '../../git/tree.ts';
import { isDockerfile } from '../../policy/setup/build-files.ts';
import { foldersAbove } from '../../policy/setup/fragments.ts';
import { isUnshipped } from '../../policy/setup/unshipped.ts';
import type { CheckScene } from '../world/scene.ts';

/** Most Dockerfiles that are read, and most bytes of one. */
const MOST_DOCKERFILES = 300;
const MOST_BYTES = 256 * 1024;
export const WHY_UNREAD: string = `more than ${MOST_DOCKERFILES} Dockerfiles, one with more than ${MOST_BYTES} bytes, or too many patterns in ${CONTEXT_IGNORE}`;

/** What a tree has of files and catalogs. */
export interface Side {
  readonly files: ReadonlyMap<string, ListedFile>;
  /** Of the files, sorted. */
  readonly paths: readonly string[];
  /** Of the paths, those of files in catalogs. */
  readonly inCatalogs: ReadonlySet<string>;
  /** Tells which files a build does not get, by the text of an ignore file; undefined if that takes too long. */
  readonly leftOutBy: ReturnType<typeof contextMatcher>;
  /** Names of all catalogs. */
  readonly catalogs: ReadonlySet<string>;
  /** The catalogs that an image has; undefined if only a build knows. */
  readonly catalogsOf: (fragment: DescribedFragment) => ReadonlySet<string> | undefined;
}

/** What one tree, before or after a change, has for its Dockerfiles: its files, and the catalogs that they copy. */
export async function sideOf({ objects, policy }: CheckScene, tree: string): Promise<Side> {
  const files = new Map((await listFiles(objects, tree)).map((file) => [file.path, file]));
  const units = await catalogUnits(objects, tree, policy.layout);
  const paths = [...files.keys()].sort();
  const inCatalogs = new Set(
    paths.filter((path) => [path, ...foldersAbove(path)].some((one) => units.has(one))),
  );
  return {
    files,
    paths,
    inCatalogs,
    leftOutBy: contextMatcher(inCatalogs),
    catalogs: new Set([...units.values()].map(({ catalog }) => catalog)),
    catalogsOf: ({ files: copied }) =>
      copied &&
      new Set(
        copied.flatMap(({ source }) =>
          [source, ...foldersAbove(source)].flatMap((path) => units.get(path)?.catalog ?? []),
        ),
      ),
  };
}

/** The files that may say what the build of a Dockerfile does not get: its own, that at the top, and that of its folder. */
export function ignoreFilesOf(path: string): string[] {
  return [`${path}${CONTEXT_IGNORE}`, CONTEXT_IGNORE, joinPath(dirname(path), CONTEXT_IGNORE)];
}

interface Search {
  /** Whether a Dockerfile is read; all are by default. */
  readonly isRead?: (path: string) => boolean;
  /** Whether a Dockerfile is known to be one of a catalog. */
  readonly isCatalog?: (path: string) => boolean;
  /** Dockerfiles that are not read are added to it. */
  readonly unread?: string[];
}

/** The catalog fragments that Dockerfiles of a tree ship, one at a time: each may name all files. */
export async function* fragmentsIn(
  { objects }: CheckScene,
  { files, paths, inCatalogs, leftOutBy }: Side,
  { isRead = () => true, isCatalog = () => false, unread = [] }: Search = {},
): AsyncGenerator<DescribedFragment> {
  const textAt = async (path: string): Promise<string | undefined> => {
    const file = files.get(path);
    const info = file && whyUnreadable(file.mode) === undefined ? await objects.info(file.id) : undefined;
    if (file === undefined || info === undefined || info.size > MOST_BYTES) return undefined;
    return (await objects.read(file.id, MOST_BYTES)).bytes.toString('utf8');
  };
  const isFile = (path: string): boolean => whyUnreadable(files.get(path)?.mode ?? '') === undefined;
  const dockerfiles = paths.filter(
    (path) => isDockerfile(path) && isFile(path) && !isUnshipped(path) && isRead(path),
  );
  unread.push(...dockerfiles.slice(MOST_DOCKERFILES));
  for (const path of dockerfiles.slice(0, MOST_DOCKERFILES)) {
    const text = await textAt(path);
    const [own, top, beside] = await Promise.all(ignoreFilesOf(path).map(textAt));
    // Nobody knows whether a build gets the whole repository or the Dockerfile's folder: each has its own ignore file.
    const leftOutOfRepository = leftOutBy(own ?? top);
    const leftOutOfFolder = leftOutBy(own ?? beside);
    if (text === undefined || !leftOutOfRepository || !leftOutOfFolder) unread.push(path);
    if (text === undefined) continue;
    const isLeftOut = (folder: string, file: string): boolean => {
      if (!inCatalogs.has(file)) return false;
      if (folder === '') return leftOutOfRepository?.(file) === true;
      return leftOutOfFolder?.(file.slice(folder.length + 1)) === true;
    };
    const fragment = fragmentIn(path, text, { files: paths, isLeftOut, isCatalog: isCatalog(path) });
    const isKnown = leftOutOfRepository && leftOutOfFolder;
    if (fragment) yield isKnown ? fragment : { ...fragment, files: undefined };
  }
}
