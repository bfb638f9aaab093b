/** Paths of catalog files by what their folders and names stand for: a catalog, a package, or a name that stays. */
import { splitAtMinor } from '../../../catalog/fbc/openshift.ts';
import type { CatalogFile } from './catalog-files.ts';

/** How much a layout names instead of capturing it; a narrower one matches fewer files. */
export interface LayoutStyle {
  /** Write folders of packages out. */
  readonly literalPackages?: boolean;
  /** Let folders of catalogs be versions only. */
  readonly versionsOnly?: boolean;
}

/** What a folder of a path, or the file's name without its ending, stands for. */
export type Part =
  /** With `isOwner`, the folder of a package above catalogs, which are that package's alone. */
  | { readonly kind: 'name'; readonly text: string; readonly isOwner?: true }
  | { readonly kind: 'package' | 'any' }
  /** A version of the platform after a text that stays; or a name that differs from catalog to catalog. */
  | {
      readonly kind: 'catalog';
      readonly before: string;
      readonly glob: string;
      readonly after?: string;
      /** The version of the first catalog, where it is one. */
      readonly version?: string;
    };

/** Files whose paths differ in nothing but their catalogs and packages. */
export interface Shape {
  readonly folders: readonly Part[];
  /** Set where the file's name gives the catalog. */
  readonly stem: Part | undefined;
  readonly files: readonly CatalogFile[];
}

/** The ending of a file's name with its dot. */
export const ENDING: RegExp = /\.[^./]+$/;
/** Names of files that may be of a catalog. */
export const FORMAT: RegExp = /\.(?:ya?ml|json)$/;

/** Groups files whose paths have the same shape: folders for the same things, at the same places. */
export function shapesOf(files: readonly CatalogFile[]): Shape[] {
  const shapes = new Map<string, Shape>();
  const isVersionHere = versionTest(files);
  for (const file of files) {
    const { folders, stem } = partsOf(file, isVersionHere);
    const key = JSON.stringify([folders, stem], (name, value: unknown) =>
      // Versions of one form are of one shape.
      name === 'version' ? String(value).replaceAll(/[0-9]+/g, '*') : value,
    );
    shapes.set(key, { folders, stem, files: [...(shapes.get(key)?.files ?? []), file] });
  }
  return [...shapes.values()];
}

/** What each folder on the way to a file stands for: a package, a version, or only its name. */
function partsOf(
  { path, packages, defines }: CatalogFile,
  isVersionHere: (name: string) => boolean,
): Pick<Shape, 'folders' | 'stem'> {
  const names = path.split('/');
  const folders = names.slice(0, -1);
  const packageAt = folders.findLastIndex((folder) => packages.includes(folder));
  const versionAt = folders.findIndex((folder, i) => i !== packageAt && isVersionHere(folder));
  const parts = folders.map((folder, i): Part => {
    if (i === packageAt && i < versionAt) return { kind: 'name', text: folder, isOwner: true };
    if (i === packageAt) return { kind: 'package' };
    return i === versionAt ? versionPart(folder, i === 0) : { kind: 'name', text: folder };
  });
  const stem = (names.at(-1) ?? '').replace(ENDING, '');
  // A file with a part of a package may be called after a version of the operator.
  const isNamed = versionAt < 0 && isVersion(stem) && defines.length > 0;
  return { folders: parts, stem: isNamed ? versionPart(stem, folders.length === 0) : undefined };
}

/** Which folders are called after versions: those of OpenShift, or of the operator if several are and none is OpenShift's. */
function versionTest(files: readonly CatalogFile[]): (name: string) => boolean {
  const folders = new Set(files.flatMap(({ path }) => path.split('/').slice(0, -1)));
  if ([...folders].some(isVersion)) return isVersion;
  const isOwn = (name: string): boolean => /^v[0-9]{1,3}\.[0-9]{1,3}$/.test(name);
  return [...folders].filter(isOwn).length > 1 ? isOwn : () => false;
}

/** Whether a name ends with a version of OpenShift, 4 or later, perhaps with a word such as `-catalog` behind it. */
function isVersion(name: string): boolean {
  const { minor = '', after } = splitAtMinor(name.replace(AFTER, '')) ?? {};
  return after === '' && /^v?[4-9][._-][0-9]{1,3}$/.test(minor);
}

/** What may follow the version in the name of a catalog's folder: `4.19-catalog`. */
const AFTER = /[-_](?:catalogs?|fbc|index|configs)$/;

/**
 * The part of a pattern for a folder or file that is called after a version.
 *
 * @param isFirst whether nothing else says where the pattern begins, so that the version itself must
 */
function versionPart(name: string, isFirst: boolean): Part {
  const [after = ''] = AFTER.exec(name) ?? [];
  const own = name.slice(0, name.length - after.length);
  const { before, minor } = splitAtMinor(own) ?? { before: '', minor: own };
  const glob = isFirst && before === '' ? `:${minor.replaceAll(/[0-9]+/g, '*')}` : '';
  return { kind: 'catalog', before, glob, ...(after === '' ? {} : { after }), version: minor };
}

/**
 * A shape as a style writes it, so that its pattern matches fewer files. With `literalPackages`, a package's
 * folder that is the same for all files is written by its name; with `versionsOnly`, `{catalog}` matches only
 * versions of this form.
 */
export function styledShape(shape: Shape, { literalPackages, versionsOnly }: LayoutStyle): Shape {
  const withVersionGlob = (part: Part): Part =>
    versionsOnly && part.kind === 'catalog' && part.version !== undefined
      ? { ...part, glob: `:${part.version.replaceAll(/[0-9]+/g, '*')}` }
      : part;
  const names = shape.files.map(({ path }) => path.split('/'));
  const withPackageName = (part: Part, i: number): Part => {
    const [text = '', ...more] = new Set(names.map((folders) => folders[i] ?? ''));
    return literalPackages && part.kind === 'package' && more.length === 0 ? { kind: 'name', text } : part;
  };
  return {
    ...shape,
    folders: shape.folders.map((part, i) => withVersionGlob(withPackageName(part, i))),
    stem: shape.stem && withVersionGlob(shape.stem),
  };
}

/** Whether no two shapes have a package in common. */
export function haveOwnPackages(shapes: readonly Shape[]): boolean {
  const seen = new Set<string>();
  for (const shape of shapes) {
    const own = new Set(shape.files.flatMap(({ packages }) => packages));
    if ([...own].some((name) => seen.has(name))) return false;
    for (const name of own) seen.add(name);
  }
  return true;
}

/** The folder of a path; empty at the top. */
export function folderOf(path: string): string {
  return path.split('/').slice(0, -1).join('/');
}

export function isText(part: Part | undefined, text: string): boolean {
  return part?.kind === 'name' && part.text === text;
}
