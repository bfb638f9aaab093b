/** Symbolic links to catalog files: what they point to may only be a store of the catalogs that have the links. */
import { dirname, join } from 'node:path/posix';
import { minorOfCatalog } from '../../../catalog/fbc/openshift.ts';
import type { ObjectReader } from '../../git/objects.ts';
import { LINK_MODE, type ListedFile } from '../../git/tree.ts';
import type { CatalogFacts } from './catalog-files.ts';
import { catalogNamer } from './catalog-names.ts';
import type { LeftOut } from './fragments.ts';
import { layoutOf } from './layout.ts';

/** A symbolic link, and the path in the repository to which it leads. */
export interface Link {
  readonly path: string;
  readonly target: string;
}

/** Most links that are read, and the largest, in bytes: Linux follows no longer path. */
const MOST_LINKS = 500;
const MOST_BYTES = 4096;

/** The links of a commit that stay in the repository. */
export async function linksOf(objects: ObjectReader, files: readonly ListedFile[]): Promise<Link[]> {
  const links: Link[] = [];
  for (const { path, id } of files.filter(({ mode }) => mode === LINK_MODE).slice(0, MOST_LINKS)) {
    const info = await objects.info(id);
    if (info === undefined || info.size > MOST_BYTES) continue;
    const text = (await objects.read(id)).bytes.toString('utf8');
    const target = join(dirname(path), text).replace(/\/$/, '');
    if (!text.startsWith('/') && !target.startsWith('..')) links.push({ path, target });
  }
  return links;
}

/** Files that are in catalogs only by links, each with the reason to leave it out. */
export function linkTargets(
  files: readonly CatalogFacts[],
  paths: readonly string[],
  links: readonly Link[],
): LeftOut[] {
  const seen = files.flatMap((file) =>
    links
      .filter(({ target }) => `${file.path}/`.startsWith(`${target}/`))
      .map((link) => ({ file, link, as: `${link.path}${file.path.slice(link.target.length)}` })),
  );
  if (seen.length === 0) return [];
  const targets = new Set(seen.map(({ file }) => file.path));
  // The layout as it would be if each link were a copy of its target.
  const real = files.filter(({ path }) => !targets.has(path));
  const linked = seen.map(({ file, as }) => ({ ...file, path: as }));
  const all = [...paths.filter((path) => !targets.has(path)), ...linked.map(({ path }) => path)];
  const nameOf = catalogNamer(layoutOf([...real, ...linked], all, new Set(all)).patterns);
  const realNames = new Set(real.map(({ path }) => nameOf(path)));
  // A target is only a store if its own path names no catalog, while the link is in a known one, or in that of a platform.
  const isStore = (name: string | undefined, path: string): boolean =>
    name !== undefined &&
    nameOf(path) === undefined &&
    (realNames.has(name) || (minorOfCatalog(name) !== undefined && minorOfCatalog(path) === undefined));
  const found = seen
    .filter(({ file, as }) => isStore(nameOf(as), file.path))
    .map(({ file, link }) => ({
      path: file.path,
      reason: `the target of the symbolic link ${link.path}, which is not followed; commit a copy in its place to have it checked`,
    }));
  // Several links may lead to one file.
  return found.filter(({ path }, i) => found.findIndex((one) => one.path === path) === i);
}
