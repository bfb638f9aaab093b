/** The pattern of the layout that matches files of one shape, and no other file of the repository. */
import { compareText } from '../../../catalog/go/text.ts';
import { ENDING, type Part, type Shape } from './shapes.ts';

export interface Repository {
  /** Paths of files with whole packages. */
  readonly whole: ReadonlySet<string>;
  /** Whether a path is something else than a catalog's. */
  readonly isOther: (path: string) => boolean;
  /** Whether a file that was not read has the name of a whole catalog beside it, and another ending: it is a catalog of its own. */
  readonly isDouble: (path: string) => boolean;
  /** Names of the files in each folder, and in those below it as paths. */
  readonly byFolder: ReadonlyMap<string, readonly string[]>;
}

export function filesByFolder(paths: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const path of paths) {
    const names = path.split('/');
    for (let i = 0; i < names.length; i++) {
      const folder = names.slice(0, i).join('/');
      const rest = names.slice(i).join('/');
      const known = folders.get(folder);
      if (known) known.push(rest);
      else folders.set(folder, [rest]);
    }
  }
  return folders;
}

export function patternOf(shape: Shape, repository: Repository): string {
  const { folders, stem } = shape;
  if (stem) return [...folders.map(partText), `${partText(stem)}.${endingText(shape)}`].join('/');
  // Below the catalog's or the package's own folder, everything is the catalog's where nothing else is there.
  const named = folders.findLastIndex(({ kind }) => kind !== 'name');
  for (let depth = Math.max(1, named + 1); depth <= folders.length; depth++) {
    if (isAllCatalog(shape, depth, repository))
      return [...folders.slice(0, depth).map(partText), '**'].join('/');
  }
  return [...folders.map(partText), fileText(shape, repository)].join('/');
}

export function partText(part: Part): string {
  switch (part.kind) {
    case 'name':
      return part.text;
    case 'any':
      return '*';
    case 'package':
      return '{package}';
    case 'catalog':
      return `${part.before}{catalog${part.glob}}${part.after ?? ''}`;
  }
}

/** Whether folders hold several files, all of which are the catalog's. */
function isAllCatalog(
  { files }: Shape,
  depth: number,
  { isOther, isDouble, byFolder, whole }: Repository,
): boolean {
  const own = new Set(files.map(({ path }) => path));
  const folders = new Set(files.map(({ path }) => path.split('/').slice(0, depth).join('/')));
  let isMany = false;
  for (const folder of folders) {
    const inside = (byFolder.get(folder) ?? []).filter((path) => !path.split('/').at(-1)?.startsWith('.'));
    isMany ||= inside.length > 1;
    const isForeign = (path: string): boolean =>
      isOther(path) || isDouble(path) || (whole.has(path) && !own.has(path));
    if (inside.some((path) => isForeign(`${folder}/${path}`))) return false;
  }
  return isMany;
}

/** The names of the files, as few as there are, or what they have in common. */
function fileText({ files }: Shape, { isOther, byFolder }: Repository): string {
  const names = [...new Set(files.map(({ path }) => path.split('/').at(-1) ?? ''))].sort(compareText);
  const [first = ''] = names;
  if (names.length === 1) return first;
  const begin = commonStart(names.map((name) => name.replace(ENDING, '')));
  const glob = `${begin}*.${endingText({ files })}`;
  const endings = endingsOf(files);
  const folders = new Set(files.map(({ path }) => path.split('/').slice(0, -1).join('/')));
  const isStrange = [...folders].some((folder) =>
    (byFolder.get(folder) ?? []).some(
      (name) =>
        !name.includes('/') &&
        name.startsWith(begin) &&
        endings.includes(ENDING.exec(name)?.[0].slice(1) ?? '') &&
        isOther(folder === '' ? name : `${folder}/${name}`),
    ),
  );
  return isStrange ? `{${names.join(',')}}` : glob;
}

/** How the files' names end, without the dot: `yaml`, or `{json,yaml}`. */
function endingText({ files }: Pick<Shape, 'files'>): string {
  const endings = endingsOf(files);
  return endings.length === 1 ? (endings[0] ?? '') : `{${endings.join(',')}}`;
}

function endingsOf(files: Shape['files']): string[] {
  return [...new Set(files.map(({ path }) => ENDING.exec(path)?.[0].slice(1) ?? ''))].sort(compareText);
}

function commonStart(names: readonly string[]): string {
  const [first = ''] = names;
  let length = first.length;
  for (const name of names) while (!name.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}
